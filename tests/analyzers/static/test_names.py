"""What names of variables say: a table of names that change, and one of names that must be left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixwise.analyzers.static.names import Use, judge, name_words, use
from prefixwise.analyzers.static.precision import finest_unit
from prefixwise.analyzers.static.volatile import Frequency, VolatileKind
from prefixwise.core.finding import Confidence

VOLATILE = {
    "clock call": """
        now $now utcNow utc_now now_iso nowIso timestamp time_stamp current_timestamp currentTime current_time
        CURRENT_TIME
        time current_time_utc local_time server_time datetime date_time current_datetime currentDateTime time_now
        time_of_day
        state.now ctx.current_time #sys.time# Date.now datetime.now now.strftime get_current_time getCurrentTime()
        unix_timestamp epoch_ms request_time request_timestamp user_local_time formatted_time currenttime
        jetzt uhrzeit aktuelle_uhrzeit zeitstempel heure heure_actuelle maintenant ahora hora_actual agora
        hora_atual adesso
        当前时间 現在時刻 сейчас 지금
    """,
    "clock day": """
        today date current_date currentDate CURRENT_DATE todays_date todaysDate today_date date_today date_string
        date_str
        current_day weekday day_of_week system.date inputs.today date.today local_date currentdate
        heute datum aktuelles_datum date_du_jour fecha fecha_actual hoy hoje data_atual oggi vandaag 今天 当前日期
        今日 сегодня
    """,
    "relative time call": "time_ago last_seen minutes_since_last_message time_since_last_login",
    "identifier call": """
        request_id requestId REQUEST_ID req_id message_id messageId msg_id trace_id traceId correlation_id run_id
        execution_id turn_id uuid guid nonce random_string random_suffix request_uuid run.id reply_id last_message_id
    """,
    "identifier session": """
        thread_id threadId thread.id session_id sessionId sessionid session.id conversation_id conversationId chat_id
        session_uuid channel_id ticket_id
    """,
    "counter call": """
        budget_left budgetLeft tokens_remaining remaining_tokens remaining_budget tokens_used token_usage
        context_usage
        context_percent cost_so_far total_cost turn_number turn_count current_turn step_number current_step iteration
        current_iteration round_number attempt attempt_number message_count elapsed_time time_left seconds_elapsed
        remaining_steps spent quota_used
    """,
    "environment call": """
        git_status gitStatus git.branch git_diff file_tree directory_listing directory_structure folder_structure
        repo_map
        open_files openTabs recent_files env_vars environment_details env_info memory_usage terminal_output
    """,
    "environment session": "cwd pwd working_directory workingDir current_dir project_root home_dir hostname repo_path",
    "environment process": "pod_name worker_id container_id",
    "retrieved text call": """
        context retrieved_docs retrieved_context documents docs passages chunks search_results searchResults
        web_results
        memory memories user_memories relevant_memories rag_context recent_orders live_prices retrieved_chunks
        semantic_search_results inputs.context recent_activity
    """,
    "retrieved text session": "bridge_notice weather weather_forecast news service_alerts conversation_summary wetter",
    "person session": """
        traveller_name traveler_name user_name userName username user.name user first_name firstName last_name
        full_name
        user_profile user.profile user_email customer.email customer_name user_id userId user_preferences
        current_user.name
        patient_age student_name user_location name email_address benutzername kunden_name nom_utilisateur
        nombre_usuario
        utente 用户名 ユーザー名 user_info birth_date phone_number client_name user_context user_timezone
    """,
    "examples call": "similar_examples selected_examples random_examples retrieved_few_shot sampled_demos",
}

LEFT_ALONE = """
    release_date created_at updatedAt due_date start_time startTime end_date cutoff_date knowledge_cutoff date_format
    time_format timeout timezone deadline current_year build_date publish_date event.date message.timestamp
    m.timestamp
    doc.date response_time max_time datetime_format default_date departure_date
    tool_usage usage usage_guidelines max_tokens max_iterations min_tokens token_limit budget num_steps
    number_of_steps
    total_steps num_questions loop.index loop.index0 word_count limit temperature
    tenant_id model_id agent_id tool_call_id order_id id workspace_uuid random_seed seed product_id client_id
    environment region git_instructions git_rules home platform file file_name filename path
    knowledge_base business_context company_context latest_version legal_notice privacy_notice document
    article results
    tool_results notes page_content
    user_input userInput user_message user_query user_question user_prompt user_request user_guide user_story
    user_agent
    customer_service_policy company_name agent_name assistant_name bot_name product_name file.name tool.name
    function.name
    project_name language locale tone style persona role
    question query input history chat_history chatHistory conversation_history messages message prompt system_prompt
    agent_scratchpad task text content transcript frage pregunta 質問 {question} last_message recent_messages
    latest_message
    format_instructions tools tool_names tool_descriptions version model model_name output_format schema json_schema
    examples few_shot_examples instructions guidelines bos_token eos_token add_generation_prompt app_version
    candidate reader client runtime timeline timely sometimes update candid snow nowhere daytime randomize
    grid overtime
    card_tail email clock_speed_limit session ticket thread live_mode live_url latest_release context_window
    token_budget
    memory_instructions current_state status latest_instructions os_name field_name osName
    seconds_since_previous time_since_previous_action
"""

USES = {
    Use.TURN: "question history chat_history user_input messages task email",
    Use.SETTLED: "version model_name max_tokens tools format_instructions bos_token company_name system_prompt",
    Use.OPEN: "card_tail genre name order_id",
}


@pytest.mark.parametrize(
    ("name", "kind", "frequency"),
    [(name, *said.rsplit(" ", 1)) for said, names in VOLATILE.items() for name in names.split()],
)
def test_what_changes(name, kind, frequency):
    judgement = judge(name)
    assert judgement is not None
    assert (judgement.kind, judgement.frequency) == (VolatileKind(kind), Frequency(frequency))
    assert judgement.because


@pytest.mark.parametrize("name", LEFT_ALONE.split())
def test_what_is_left_alone(name):
    assert judge(name) is None


def test_a_time_of_unknown_precision_and_known_ones():
    assert judge("now").precision == ""
    assert judge("timestamp").precision == "second"
    assert judge("today").precision == "day"
    assert judge("now", ['date("HH:mm")'])[:3] == (VolatileKind.CLOCK, Frequency.CALL, "minute")
    assert judge("now", ["strftime('%Y-%m-%d')"])[:3] == (VolatileKind.CLOCK, Frequency.DAY, "day")
    assert judge("today", ['date("HH:mm:ss")']).frequency is Frequency.CALL
    assert judge("now", ["date('YYYY')"]) is None
    assert judge("created_at", ["date('HH:mm')"]) is None
    assert judge("now", ["default('unknown')"]).precision == ""


def test_filters_that_make_a_value_move():
    assert judge("created_at", ["timeago"]).kind is VolatileKind.RELATIVE_TIME
    assert judge("greetings", ["random"]).kind is VolatileKind.IDENTIFIER
    assert judge("examples", ["shuffle"]).kind is VolatileKind.EXAMPLES
    assert judge("greetings", ["upper"]) is None


def test_names_that_tell_little_are_said_to_be_possible():
    assert judge("name").confidence is Confidence.POSSIBLE
    assert judge("traveller_name").confidence is Confidence.LIKELY


@pytest.mark.parametrize(
    ("name", "expected"),
    [(name, use) for use, names in USES.items() for name in names.split()],
)
def test_what_a_value_is_for(name, expected):
    assert use(name) is expected


@pytest.mark.parametrize(
    ("format", "unit"),
    [
        ("%Y-%m-%d %H:%M:%S", "second"),
        ("%d %b %Y", "day"),
        ("%-d. %B %Y", "day"),
        ("%H:%M", "minute"),
        ("%I %p", "hour"),
        ("%B %Y", "month"),
        ("%Y", "year"),
        ("HH:mm", "minute"),
        ("HH:mm:ss", "second"),
        ("yyyy-MM-dd", "day"),
        ("yyyy-MM-dd'T'HH", "hour"),
        ("dddd, MMMM D, YYYY", "day"),
        ("MMMM YYYY", "month"),
        ("Y-m-d H:i:s", "second"),
        ("H:i", "minute"),
        ("Y-m-d", "day"),
        ("2006-01-02", "day"),
        ("2006-01-02 15:04", "minute"),
        ("LLLL", "minute"),
        ("unknown", ""),
        ("100%", ""),
        ("", ""),
    ],
)
def test_the_finest_unit_of_a_format(format, unit):
    assert finest_unit(format) == unit


@given(st.text(max_size=40), st.lists(st.text(max_size=20), max_size=3))
def test_any_text_is_taken(name, filters):
    judge(name, filters)
    use(name)
    assert all(word == word.lower() or not word.isascii() for word in name_words(name))
