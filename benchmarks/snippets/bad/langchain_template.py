from datetime import date

from langchain_core.prompts import ChatPromptTemplate
from langchain_openai import ChatOpenAI

prompt = ChatPromptTemplate.from_messages(
    [
        (
            "system",
            "Today is {today}. You plan routes for a fleet of milk lorries.\n"
            "Start at the dairy, end at the dairy, and never cross the toll bridge twice.\n"
            "Give every stop with its litres and the minute of arrival.",
        ),
        ("human", "{orders}"),
    ]
)
chain = prompt | ChatOpenAI(model="gpt-5.1")


def plan(orders):
    return chain.invoke({"today": date.today().isoformat(), "orders": orders})
