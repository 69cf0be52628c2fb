from openai import AsyncOpenAI

TEMPLATE = """You are talking to {user_name} ({user_email}).
You help people to choose seeds for a garden on clay soil.
Ask for the month, the light and the size of the bed before you recommend anything.
Name the sowing depth in centimetres and the distance between rows."""


async def chat(user, question):
    system = TEMPLATE.format(user_name=user.name, user_email=user.email)
    return await AsyncOpenAI().chat.completions.create(
        model="gpt-5.1",
        messages=[{"role": "developer", "content": system}, {"role": "user", "content": question}],
    )
