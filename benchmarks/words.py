"""Words that the generated text is made of: some 1800 common English ones, and the small ones that glue them."""

from __future__ import annotations

_GLUE = """
the of and to a in is that for it as with on be are this by at from or an not have was but which you we they can
has their if its there when so up out what into than then now no our your
"""

_COMMON = """
able about above accept access account across action active activity actual add address adjust advance advice
affect afraid after again against age agency agent agree ahead aim air airport alarm album alert alive all allow
almost alone along already also alter although always amount analysis ancient angle animal announce annual
another answer anyone anything apart apartment appeal appear apple apply appoint approach approve area argue arm
army around arrange arrive article artist aside ask aspect assess asset assign assist assume attach attack
attempt attend attention attract audience author available average avoid awake award aware away baby back
background bad bag balance ball band bank bar bare base basic basis basket bath battery battle beach bear beat
beautiful become bed before begin behavior behind being believe bell belong below bench bend beneath benefit
beside best better between beyond bicycle big bill bird birth bit bite bitter black blame blanket block blood
blow blue board boat body bold bone book border born borrow boss both bother bottle bottom box boy brain branch
brave bread break breakfast breath bridge brief bright bring broad brother brown brush budget build building
burn bus business busy button buy cabin cable cake calculate call calm camera camp campaign cancel candidate
capable capacity capital captain capture car carbon card care career careful carpet carry case cash castle cat
catch category cause cell center central century certain chain chair chairman challenge chance change channel
chapter character charge charity chart chase cheap check cheese chemical chest chicken chief child choice choose
church circle citizen city civil claim class classic clean clear client climate climb clock close cloth cloud
club coach coal coast coat code coffee coin cold collect college color column combine come comfort command
comment commercial commit committee common community company compare compete complain complete complex computer
concept concern concert condition conduct conference confidence confirm conflict connect consider consist
constant consult consumer contact contain content contest context continue contract contrast contribute control
convert cook cool copy corner correct cost cotton council count country county couple courage course court
cousin cover craft crash cream create credit crew crisis criteria critical crop cross crowd cry culture cup
curious current curve custom customer cut cycle daily damage dance danger dark data date daughter day dead deal
dear debate debt decade decide decision deck declare decline deep defend define degree delay deliver demand deny
department depend depth derive describe desert design desk despite detail detect determine develop device diet
differ difference difficult digital dinner direct direction director dirt discover discuss disease dish display
distance distant distinct district divide doctor document dog dollar domestic door double doubt down draft drama
draw dream dress drink drive driver drop dry due during dust duty each eager ear early earn earth ease east easy
eat economy edge edit education effect effective effort egg eight either elect electric element else emerge
emotion employ empty enable encourage end energy engage engine engineer enhance enjoy enough ensure enter entire
entrance entry envelope environment equal equipment error escape especially essential establish estate estimate
even evening event ever every evidence exact examine example excellent except exchange excite exercise exhibit
exist expand expect expense experience expert explain explore export expose express extend extent external extra
eye face fact factor factory fail fair faith fall familiar family famous fan far farm farmer fashion fast father
fault favor fear feature federal fee feed feel fellow female fence festival few field fifth fifty fight figure
file fill film final finance find fine finger finish fire firm first fish fit five fix flag flat flight float
floor flow flower fly focus fold folk follow food foot force foreign forest forget form formal former forty
forward found four fourth frame free freedom freeze frequent fresh friend front fruit fuel full fun function
fund funny furniture further future gain game garage garden gas gate gather general generate gentle genuine get
giant gift girl give glad glass global goal gold good goods govern grade grain grand grant grass gray great
green grocery ground group grow growth guard guess guest guide guitar gun guy habit hair half hall hand handle
hang happen happy harbor hard hat hate head health hear heart heat heavy height help hero hesitate hide high
highlight hill hint hire history hit hold hole holiday home honest hope horse hospital host hotel hour house
household huge human hundred hungry hunt hurry hurt husband ice idea ideal identify ignore ill image imagine
impact implement imply import important impose improve incident include income increase indeed index indicate
individual industry infant inform initial inner input inquiry insect inside insist inspect install instance
instead institute insurance intend interest internal international interview introduce invest invite involve
iron island issue item itself jacket job join joint joke journal journey joy judge juice jump junior jury just
justice justify keen keep key kick kid kind king kitchen knee knife knock know knowledge label labor lack ladder
lady lake lamp land language large last late later laugh launch law lawyer lay layer lead leader leaf league
lean learn least leather leave lecture left leg legal lemon lend length less lesson let letter level library
license lid lie life lift light like likely limit line link lip list listen literature little live load loan
local locate lock logic long look loose lose loss lot loud love low loyal luck lunch luxury machine magazine
magic mail main maintain major maker male manage manager manner manual map march margin mark market marriage
mass master match material matter maximum maybe meal mean measure meat media medical medicine medium meet
meeting member memory mental mention menu mere message metal method middle might mile military milk mill million
mind mine minimum minister minor minute mirror miss mission mistake mix mobile model modern modest moment money
monitor month mood moon moral more morning mortgage most mother motion motor mountain mouse mouth move movement
movie much mud multiple muscle museum music must mutual mystery name narrow nation native natural nature near
nearly neat necessary neck need negative neighbor neither nerve net network neutral never new news next nice
night nine noble nobody noise none normal north nose note nothing notice notion novel number nurse object
objective observe obtain obvious occasion occupy occur ocean odd offer office officer official often oil old
once one onion online only onto open operate opinion opponent option orange order ordinary organ organize origin
other ought outcome outer output outside oven over overall owe own owner pace pack package page pain paint pair
palace pale panel paper parent park part partner party pass passage passenger past path patient pattern pause
pay payment peace peak pen pencil people pepper per percent perfect perform perhaps period permanent permit
person personal phase phone photo phrase physical piano pick picture piece pilot pipe pitch place plain plan
plane planet plant plastic plate platform play player please pleasure plenty plot plus pocket poem poet point
police policy polite political pool poor popular population port position positive possess possible post pot
potato potential pound pour power practice praise prefer prepare present preserve president press pressure
pretty prevent previous price pride primary prime principle print prior priority prison private prize probable
problem procedure proceed process produce product profession profile profit program progress project promise
promote proof proper property proposal propose protect protein protest proud prove provide public publish pull
pump purchase pure purpose pursue push put quality quantity quarter queen question quick quiet quite quote race
radio rail railway rain raise range rank rapid rare rate rather raw reach react read ready real reality realize
reason recall receive recent recipe recognize recommend record recover red reduce refer reflect reform refuse
regard region register regret regular reject relate relation relative release relevant relief rely remain remark
remember remind remote remove rent repair repeat replace reply report represent request require rescue research
reserve resident resist resolve resource respect respond rest restaurant result retail retain retire return
reveal revenue review reward rhythm rice rich ride right ring rise risk river road rock role roll roof room root
rope rough round route routine row royal rule run rural rush sad safe safety sail salad salary sale salt same
sample sand satisfy save say scale scan scene schedule scheme scholar school science scientist scope score
screen script sea search season seat second secret section sector secure see seed seek seem segment select sell
send senior sense sentence separate sequence series serious serve service session set settle seven several
severe shade shadow shake shall shape share sharp sheet shelf shell shelter shift shine ship shirt shock shoe
shoot shop shore short shot should shoulder shout show shower shut sick side sight sign signal silent silver
similar simple since sing single sister site situation six size skill skin sky sleep slice slide slight slow
small smart smell smile smoke smooth snow social society soft software soil soldier solid solution solve some
song soon sort soul sound soup source south space spare speak special specific speech speed spell spend spirit
split sport spot spread spring square stable staff stage stair stake stand standard star stare start state
statement station status stay steady steal steam steel step stick still stock stomach stone stop storage store
storm story straight strange stranger strategy stream street strength stress stretch strict strike string strong
structure struggle student studio study stuff style subject submit succeed success such sudden suffer sugar
suggest suit summer sun supper supply support suppose sure surface surprise surround survey survive suspect
sustain sweet swim switch symbol system table tail take talent talk tall tank tape target task taste tax taxi
tea teach teacher team tear technique telephone tell temperature temple tend tennis term test text thank theater
theme theory thick thin thing think third thirty thought thousand thread threat three throat through throw thus
ticket tide tie tight till time tiny tip tire tired title today together tomorrow tone tonight tool tooth top
topic total touch tough tour toward town toy track trade tradition traffic trail train transfer transform
transit translate transport travel treat tree trend trial trick trip trouble truck true trust truth try tube
tune turn twelve twenty twice twin two type typical ugly ultimate uncle under understand uniform union unique
unit universe university unless unlike until unusual update upon upper urban urge use useful user usual valley
valuable value van variety various vast vehicle version very vessel veteran via victim victory video view
village visit visitor visual vital voice volume vote wage wait walk wall want war warm warn wash waste watch
water wave way weak wealth wear weather web wedding week weekend weigh weight welcome west wet wheel whereas
whether while whisper white whole whose wide wife wild will wind window wine wing winner winter wise wish within
without witness woman wonder wood wooden word work worker world worry worth wrap write writer wrong yard year
yellow yesterday yet yield young youth zone
"""

GLUE = tuple(_GLUE.split())
COMMON = tuple(_COMMON.split())
