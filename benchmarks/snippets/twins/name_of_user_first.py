from openai import AsyncOpenAI

RULES = """You help people to choose seeds for a garden on clay soil.
Ask for the month, the light and the size of the bed before you recommend anything.
Name the sowing depth in centimetres and the distance between rows."""
PERSON = "You are talking to {user_name} ({user_email})."


async def chat(user, question):
    person = PERSON.format(user_name=user.name, user_email=user.email)
    return await AsyncOpenAI().chat.completions.create(
        model="gpt-5.1",
        messages=[{"role": "developer", "content": RULES}, {"role": "user", "content": f"{person}\n{question}"}],
    )
