"""Words that names of variables are made of, by what they say about the value."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """Return a set of words written with spaces between them."""
    return frozenset(text.split())


_SPELLINGS = """
    msg=message msgs=messages req=request resp=response conv=conversation ctx=context doc=document docs=documents
    dt=datetime ts=timestamp tstamp=timestamp todays=today dir=directory dirs=directory folder=directory
    env=environment
    repo=repository cust=customer usr=user users=user tz=timezone pct=percent percentage=percent iter=iteration
    num=number uuid4=uuid uuid1=uuid uuid7=uuid guid=uuid ulid=uuid utcnow=now rand=random mem=memory sess=session
    curr=current cur=current present=current localtime=time walltime=time fewshot=few_shot shots=few_shot
    traveler=traveller travelers=traveller customers=customer attempts=attempt iterations=iteration
    rounds=round turns=turn steps=step retries=retry calls=call requests=request chunks=chunk
    snippets=snippet memories=memory facts=fact notes=note alerts=alert notices=notice announcements=announcement
    excerpts=excerpt hits=hit tokens=token credits=credit costs=cost
    getcwd=cwd gethostname=hostname getuser=user_name
    currentdate=current_date currenttime=current_time currentdatetime=current_datetime nowiso=now
    sessionid=session_id requestid=request_id threadid=thread_id userid=user_id traceid=trace_id runid=run_id
    firstname=first_name lastname=last_name fullname=full_name username=user_name
    heute=today jetzt=now datum=date uhrzeit=time aktuelles=current aktuelle=current aktueller=current zeit=time
    zeitstempel=timestamp wochentag=weekday benutzer=user nutzer=user benutzername=user_name nutzername=user_name
    kunde=customer kunden=customer kundenname=customer_name vorname=first_name nachname=last_name frage=question
    nachricht=message verlauf=history sitzung=session sitzungs=session gespräch=conversation wetter=weather
    aujourdhui=today maintenant=now heure=time actuelle=current actuel=current jour=day utilisateur=user nom=name
    prénom=first_name prenom=first_name horodatage=timestamp historique=history météo=weather meteo=weather
    hoy=today ahora=now fecha=date hora=time actual=current usuario=user nombre=name cliente=customer
    pregunta=question
    mensaje=message historial=history sesion=session sesión=session clima=weather
    hoje=today agora=now atual=current nome=name usuário=user pergunta=question mensagem=message histórico=history
    oggi=today adesso=now corrente=current odierna=current utente=user domanda=question messaggio=message
    vandaag=today nu=now huidige=current datumtijd=datetime gebruiker=user vraag=question bericht=message
    сегодня=today сейчас=now дата=date время=time текущая=current текущее=current пользователь=user вопрос=question
    имя=name история=history
    今日=today 現在=now 現在時刻=current_time 日付=date 日時=datetime 時刻=time ユーザー名=user_name
    質問=question 履歴=history
    今天=today 现在=now 当前时间=current_time 当前日期=current_date 日期=date 时间=time 用户名=user_name
    用户=user 问题=question
    历史=history 오늘=today 지금=now 현재시간=current_time 날짜=date 사용자=user 질문=question
"""
SAME = dict(pair.split("=", 1) for pair in _SPELLINGS.split())
"""One word for each of its spellings and translations; `_` stands between two words."""

CONTAINERS = words(
    "state ctx context data vars variables params parameters args kwargs inputs input self this sys props payload "
    "json system globals metadata meta var values scope options config settings locals root env runtime extra "
    "template"
)
"""Objects that only hold values: in a dotted path nothing is said by them."""

FILLERS = words(
    "str string text txt value val var variable formatted human readable pretty rendered block section xml json yaml "
    "md markdown html list placeholder data info details field get fetch render the my your our of in as a for and "
    "strftime isoformat tolocalestring toisostring toutcstring tostring injected dump dumps os socket getpass du de "
    "del der die das do da di la le el"
)

TIME_WORDS = words("now today timestamp datetime date time clock epoch weekday moment")
TIME_MODIFIERS = words(
    "current utc gmt local iso iso8601 server system unix day days week hour minute second seconds ms millis user "
    "request moment this exact at"
)
FINER_THAN_DAY = words("now time datetime timestamp clock epoch hour minute second seconds ms millis")

CALL_NOUNS = words(
    "request message trace span correlation call run execution invocation turn reply response completion interaction "
    "transaction operation generation attempt webhook job delivery query cid"
)
SESSION_NOUNS = words("session thread conversation chat dialog dialogue channel room ticket")
ID_HEADS = words("id uuid identifier ref")
RANDOM_WORDS = words("nonce uuid random cachebuster")

QUANTITIES = words(
    "budget token quota credit cost context time seconds minutes hours money usd dollars balance window spend percent"
)
STAGES = words("turn round iteration step attempt retry loop cycle tick message call request messages questions tries")
LEFT_WORDS = words("remaining left spent elapsed consumed")
BARE_COUNTERS = words("iteration attempt counter elapsed uptime spent progress remaining")

PLACES = words("directory path root cwd")
PLACE_OWNERS = words("working current work project home repository workspace")
GIT_STATE = words("status branch diff log commits state context summary history commit")
TREE_OWNERS = words("file files directory project repository workspace codebase")
TREE_HEADS = words("tree listing structure map layout overview snapshot")
OPEN_WORDS = words("open opened active visible modified changed recent recently")
OPEN_HEADS = words("files file tabs tab editors terminals buffers")
MACHINES = words("pod worker container instance replica host machine node sandbox")
MACHINE_HEADS = words("name id url")

RETRIEVAL_HEADS = words(
    "context contexts documents passages chunk snippet memory excerpt evidence knowledge fact note hit results "
    "sources articles entries"
)
RETRIEVAL_ALONE = words("context contexts documents passages chunk snippet memory excerpt evidence")
RETRIEVAL_MODIFIERS = words(
    "relevant retrieved recalled related similar matched matching top search web rag kb vector semantic long short "
    "term working external additional background supporting loaded retrieval google browser internet user "
    "conversation chat session agent current latest recent episodic lookup extra"
)
BULLETINS = words("weather forecast news headlines notice alert announcement bulletin advisory")
LASTING_NOTICES = words("legal copyright privacy license licence confidentiality default disclaimer safety security")
VAGUE_MODIFIERS = words("additional background external supporting working current extra")
FRESH = words("recent latest live retrieved recalled upcoming")
FRESH_HEADS = words("activity price history information memory context knowledge")
SELECTED = words("similar selected relevant random sampled dynamic retrieved shuffled nearest")
SUMMARISED = words("conversation history chat session memory")

PERSONS = words(
    "user customer client traveller passenger patient student learner pupil employee guest visitor caller recipient "
    "sender candidate applicant resident subscriber buyer shopper borrower player participant reader driver rider "
    "donor citizen person viewer attendee member contact speaker"
)
WEAK_PERSONS = words("client member contact person reader speaker candidate player")
ATTRIBUTES = words(
    "name email mail phone address profile preferences preference id age birthday gender location city country "
    "timezone locale language tier plan role bio first last full given number account level memory memories history "
    "settings current display nickname metadata context summary zip attributes traits interests goals"
)
PERSONAL_ALONE = (
    words("first name"),
    words("last name"),
    words("full name"),
    words("given name"),
    words("display name"),
    words("surname"),
    words("nickname"),
    words("email address"),
    words("phone number"),
    words("birthday"),
    words("date birth"),
    words("birth date"),
    words("profile"),
    words("me"),
    words("account number"),
    words("current location"),
)

TURN_HEADS = words(
    "question query input inputs message messages history conversation scratchpad transcript request utterance "
    "dialogue dialog prompt task instruction problem observations observation turns steps chat content text document "
    "article passage code answer response completion output draft thought thoughts paragraph sentence claim statement "
    "topic"
)
TURN_MODIFIERS = words(
    "user human chat current new last latest recent original customer conversation agent message previous prior "
    "follow followup up standalone final next raw search input intermediate dialog llm assistant model student "
    "proposed candidate generated tool actual today s"
)
SETTLED_HEADS = words(
    "format template schema instructions rules guidelines guideline policy policies limit limits version model style "
    "tone definitions definition description descriptions specification spec config settings persona tools functions "
    "catalog catalogue glossary manual guide seed timeout retention zone names vocabulary tags taxonomy cutoff "
    "language languages brand company organization organisation app application product environment region disclaimer "
    "criteria rubric"
)
SETTLED_FIRST = words("max maximum min minimum default total allowed initial base number static fixed")
SETTLED_NAMES = words(
    "agent assistant bot app application company product brand model organization organisation service tool character "
    "char"
)
SYSTEM_TEXTS = words("prompt message instruction")
SYSTEM_OWNERS = words("system base developer core welcome error greeting")
TOKEN_OWNERS = words("bos eos pad unk sep cls image audio start end")
