/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "model/schema.h"

/* Triggers that keep a table of evidence as it was written. */
#define EVIDENCE(table)                                                        \
	"CREATE TRIGGER " table "_unchanged BEFORE UPDATE ON " table " BEGIN"  \
	"  SELECT RAISE(ABORT, 'evidence is never changed (" table ")'); END;" \
	"CREATE TRIGGER " table "_kept BEFORE DELETE ON " table                \
	"  WHEN NOT EXISTS (SELECT 1 FROM pruning) BEGIN"                      \
	"  SELECT RAISE(ABORT, 'evidence is never deleted (" table ")'); END;"

/*
 * Three kinds of tables:
 *   plan      what is to be done, and how far it is: the journal (state columns move forward only)
 *   evidence  what was seen: rows are only ever added
 *   derived   can be dropped and computed again from the evidence
 * Times are ns since 1970 (wall clock), durations ns. Booleans are 0 and 1. A state is one of
 * planned, started, done, failed, interrupted; `reason` then says why it is not done.
 */
static const char version_1[] =
	/* plan: one execution of an experiment, a calibration, or an import */
	"CREATE TABLE experiment ("
	"  id INTEGER PRIMARY KEY AUTOINCREMENT," /* a number stands for one thing for ever */
	"  name TEXT NOT NULL,"
	"  kind TEXT NOT NULL CHECK (kind IN ('experiment', 'calibration', 'import')),"
	"  created_ns INTEGER NOT NULL,"
	"  state TEXT NOT NULL CHECK (state IN ('planned', 'started', 'done', 'interrupted')),"
	"  spec TEXT NOT NULL," /* effective configuration as YAML; can be run again */
	"  spec_sha256 TEXT NOT NULL,"
	"  seed INTEGER NOT NULL,"
	"  margin_pct REAL NOT NULL," /* of equivalence */
	"  alpha_pct REAL NOT NULL,"
	"  cv_pct REAL,"			   /* gate; NULL: from history and n */
	"  drift_pct REAL,"			   /* gate; NULL: from history and n */
	"  design TEXT NOT NULL,"		   /* one line: order, boots, runs, warm-ups */
	"  means_only INTEGER NOT NULL DEFAULT 0," /* import of boot means without runs */
	"  version TEXT NOT NULL"		   /* kbracket's own */
	") STRICT;"

	/* plan: what is done about each reason of the validity ledger (model/validity.h) */
	"CREATE TABLE policy ("
	"  experiment_id INTEGER NOT NULL REFERENCES experiment(id),"
	"  reason TEXT NOT NULL,"
	"  policy TEXT NOT NULL CHECK (policy IN ('ignore', 'flag', 'drop')),"
	"  PRIMARY KEY (experiment_id, reason)"
	") STRICT, WITHOUT ROWID;"

	/* evidence: a kernel binary; the same key is the same binary in every experiment */
	"CREATE TABLE build ("
	"  id INTEGER PRIMARY KEY,"
	"  key TEXT NOT NULL UNIQUE," /* SHA-256 over tree, config, compiler, arguments */
	"  commit_hex TEXT NOT NULL," /* '' for prebuilt */
	"  tree_hex TEXT NOT NULL,"
	"  release TEXT NOT NULL,"
	"  proc_version TEXT NOT NULL,"
	"  build_id TEXT NOT NULL," /* GNU build-id, hex; '' when it cannot be read: weak proof */
	"  config_sha256 TEXT NOT NULL,"
	"  config TEXT," /* the resolved .config */
	"  compiler TEXT NOT NULL,"
	"  seconds INTEGER NOT NULL," /* that making it took */
	"  made_ns INTEGER NOT NULL,"
	"  version TEXT NOT NULL"
	") STRICT;"

	/* plan: the kernels of an experiment; position 0 is its baseline */
	"CREATE TABLE variant ("
	"  id INTEGER PRIMARY KEY,"
	"  experiment_id INTEGER NOT NULL REFERENCES experiment(id),"
	"  position INTEGER NOT NULL,"
	"  name TEXT NOT NULL,"
	"  about TEXT NOT NULL,"
	"  recipe TEXT NOT NULL,"     /* JSON, defaults filled in */
	"  ref_commit TEXT NOT NULL," /* what the ref meant when it was planned */
	"  ref_subject TEXT NOT NULL,"
	"  runtime_sha256 TEXT NOT NULL," /* of what differs at run time only: command line,
					   * features, sysctls, scheduler */
	"  against_id INTEGER REFERENCES variant(id)," /* its baseline; NULL: it is a baseline */
	"  state TEXT NOT NULL CHECK (state IN ('planned', 'started', 'done', 'failed')),"
	"  reason TEXT NOT NULL DEFAULT '',"
	"  build_id INTEGER REFERENCES build(id),"
	"  UNIQUE (experiment_id, name), UNIQUE (experiment_id, position)"
	") STRICT;"
	"CREATE INDEX variant_build ON variant (build_id);"

	"CREATE TABLE machine ("
	"  id INTEGER PRIMARY KEY,"
	"  name TEXT NOT NULL UNIQUE,"
	"  kind TEXT NOT NULL"
	") STRICT;"

	/* evidence: what a machine was like (CPU, microcode, topology, governor, ...), as JSON */
	"CREATE TABLE facts ("
	"  id INTEGER PRIMARY KEY,"
	"  sha256 TEXT NOT NULL UNIQUE,"
	"  json TEXT NOT NULL"
	") STRICT;"

	"CREATE TABLE suite ("
	"  id INTEGER PRIMARY KEY,"
	"  name TEXT NOT NULL,"
	"  sha256 TEXT NOT NULL," /* of the YAML file */
	"  text TEXT NOT NULL,"
	"  UNIQUE (name, sha256)"
	") STRICT;"

	/* evidence: a benchmark binary */
	"CREATE TABLE program ("
	"  id INTEGER PRIMARY KEY,"
	"  name TEXT NOT NULL,"
	"  sha256 TEXT NOT NULL,"
	"  version TEXT NOT NULL,"
	"  UNIQUE (name, sha256, version)"
	") STRICT;"

	/* plan: suite × saturation × parameters on one machine of the experiment */
	"CREATE TABLE condition ("
	"  id INTEGER PRIMARY KEY,"
	"  experiment_id INTEGER NOT NULL REFERENCES experiment(id),"
	"  machine_id INTEGER NOT NULL REFERENCES machine(id),"
	"  position INTEGER NOT NULL,"
	"  suite_id INTEGER NOT NULL REFERENCES suite(id),"
	"  name TEXT NOT NULL,"
	"  saturation_pct REAL NOT NULL," /* as asked; 0: not by saturation */
	"  effective_pct REAL NOT NULL,"
	"  workers INTEGER NOT NULL,"
	"  tasks INTEGER NOT NULL,"
	"  cpus INTEGER NOT NULL,"
	"  argv TEXT NOT NULL,"	      /* JSON list */
	"  env TEXT NOT NULL,"	      /* JSON list */
	"  merged TEXT NOT NULL,"     /* saturations that this one also stands for; '' */
	"  control INTEGER NOT NULL," /* a canary: never in the headline */
	"  decides INTEGER NOT NULL," /* part of the headline set */
	"  UNIQUE (experiment_id, machine_id, name), UNIQUE (experiment_id, machine_id, position)"
	") STRICT;"
	"CREATE INDEX condition_name ON condition (machine_id, name);"

	"CREATE TABLE metric ("
	"  id INTEGER PRIMARY KEY,"
	"  condition_id INTEGER NOT NULL REFERENCES condition(id),"
	"  position INTEGER NOT NULL,"
	"  name TEXT NOT NULL,"
	"  unit TEXT NOT NULL,"
	"  better TEXT NOT NULL CHECK (better IN ('higher', 'lower')),"
	"  UNIQUE (condition_id, name)"
	") STRICT;"

	/* plan: one boot of one variant; the unit of replication */
	"CREATE TABLE boot ("
	"  id INTEGER PRIMARY KEY,"
	"  experiment_id INTEGER NOT NULL REFERENCES experiment(id),"
	"  machine_id INTEGER NOT NULL REFERENCES machine(id),"
	"  ordinal INTEGER NOT NULL,"
	"  block INTEGER NOT NULL,"
	"  variant_id INTEGER NOT NULL REFERENCES variant(id),"
	"  state TEXT NOT NULL"
	"    CHECK (state IN ('planned', 'started', 'done', 'failed')),"
	"  reason TEXT NOT NULL DEFAULT ''," /* build-failed, boot-failed, wrong-kernel, ... */
	"  detail TEXT NOT NULL DEFAULT '',"
	"  UNIQUE (experiment_id, machine_id, ordinal)"
	") STRICT;"
	"CREATE INDEX boot_machine ON boot (machine_id, experiment_id);"
	"CREATE INDEX boot_variant ON boot (variant_id);"

	/* evidence: each try to start that boot's kernel, and the proof of what came up. A boot has
	 * more than one when a try failed, or when kbracket was stopped and the kernel was gone. */
	"CREATE TABLE attempt ("
	"  id INTEGER PRIMARY KEY,"
	"  boot_id INTEGER NOT NULL REFERENCES boot(id),"
	"  number INTEGER NOT NULL,"
	"  method TEXT NOT NULL,"
	"  started_ns INTEGER NOT NULL,"
	"  ended_ns INTEGER,"
	"  outcome TEXT NOT NULL"
	"    CHECK (outcome IN ('started', 'proved', 'failed', 'interrupted')),"
	"  reason TEXT NOT NULL DEFAULT ''," /* boot-failed, wrong-kernel, ... */
	"  detail TEXT NOT NULL DEFAULT '',"
	"  kernel_boot_id TEXT NOT NULL DEFAULT '',"
	"  weak INTEGER NOT NULL DEFAULT 0," /* no build-id to compare with */
	"  proof TEXT,"			     /* JSON: what was expected, what was seen */
	"  facts_id INTEGER REFERENCES facts(id),"
	"  UNIQUE (boot_id, number)"
	") STRICT;"

	/* plan and evidence: one execution of a program in a boot */
	"CREATE TABLE run ("
	"  id INTEGER PRIMARY KEY,"
	"  boot_id INTEGER NOT NULL REFERENCES boot(id),"
	"  position INTEGER NOT NULL," /* order within the boot */
	"  condition_id INTEGER NOT NULL REFERENCES condition(id),"
	"  warmup INTEGER NOT NULL,"
	"  ordinal INTEGER NOT NULL," /* within boot, condition and warmup */
	"  try INTEGER NOT NULL,"     /* more than 1 after an interruption */
	"  state TEXT NOT NULL"
	"    CHECK (state IN ('planned', 'started', 'done', 'failed', 'interrupted')),"
	"  reason TEXT NOT NULL DEFAULT ''," /* exit, timeout, unparsable, output-limit, ... */
	"  detail TEXT NOT NULL DEFAULT '',"
	"  attempt_id INTEGER REFERENCES attempt(id)," /* the kernel start it ran in */
	"  program_id INTEGER REFERENCES program(id),"
	"  begun_ns INTEGER, stored_ns INTEGER,"  /* by our clock */
	"  started_ns INTEGER, ended_ns INTEGER," /* of the program, by the machine's clock */
	"  wall_ns INTEGER,"
	"  exit_code INTEGER, signal INTEGER,"
	"  user_ns INTEGER, system_ns INTEGER, max_rss_bytes INTEGER,"
	"  voluntary_switches INTEGER, involuntary_switches INTEGER,"
	"  reading INTEGER NOT NULL DEFAULT 0," /* which reading of its output counts; 0: none */
	"  UNIQUE (boot_id, condition_id, warmup, ordinal, try)"
	") STRICT;"
	"CREATE INDEX run_order ON run (boot_id, position, try);"

	/* evidence: what the machine did before and after a run, as JSON. Apart from the run,
	 * because it is large and a report reads all runs but no environment. */
	"CREATE TABLE environment ("
	"  run_id INTEGER PRIMARY KEY REFERENCES run(id),"
	"  json TEXT NOT NULL"
	") STRICT;"

	/* evidence: every observation. A mended suite reads old output again: a new reading */
	"CREATE TABLE sample ("
	"  run_id INTEGER NOT NULL REFERENCES run(id),"
	"  reading INTEGER NOT NULL,"
	"  metric_id INTEGER NOT NULL REFERENCES metric(id),"
	"  ordinal INTEGER NOT NULL,"
	"  value REAL NOT NULL,"
	"  PRIMARY KEY (run_id, reading, metric_id, ordinal)"
	") STRICT, WITHOUT ROWID;"

	/* evidence: files under raw/, packed with zstd; sha256 and bytes are of the unpacked
	   content */
	"CREATE TABLE raw ("
	"  id INTEGER PRIMARY KEY,"
	"  run_id INTEGER REFERENCES run(id),"
	"  attempt_id INTEGER REFERENCES attempt(id),"
	"  build_id INTEGER REFERENCES build(id),"
	"  kind TEXT NOT NULL," /* stdout, stderr, console, dmesg, log */
	"  path TEXT NOT NULL," /* below the folder of the database */
	"  sha256 TEXT NOT NULL,"
	"  bytes INTEGER NOT NULL"
	") STRICT;"
	"CREATE INDEX raw_run ON raw (run_id);"
	"CREATE INDEX raw_build ON raw (build_id);"
	"CREATE INDEX raw_attempt ON raw (attempt_id);"

	/* evidence: the validity ledger, what may make a run unfit; the policy is the judge's */
	"CREATE TABLE flag ("
	"  run_id INTEGER NOT NULL REFERENCES run(id),"
	"  reason TEXT NOT NULL,"
	"  detail TEXT NOT NULL,"
	"  PRIMARY KEY (run_id, reason)"
	") STRICT, WITHOUT ROWID;"

	/* evidence: what happened between runs: recoveries, power cycles, notes */
	"CREATE TABLE event ("
	"  id INTEGER PRIMARY KEY,"
	"  experiment_id INTEGER NOT NULL REFERENCES experiment(id),"
	"  boot_id INTEGER REFERENCES boot(id),"
	"  time_ns INTEGER NOT NULL,"
	"  kind TEXT NOT NULL,"
	"  text TEXT NOT NULL"
	") STRICT;"

	/* evidence: imported boot means of published measurements without runs */
	"CREATE TABLE boot_mean ("
	"  boot_id INTEGER NOT NULL REFERENCES boot(id),"
	"  metric_id INTEGER NOT NULL REFERENCES metric(id),"
	"  runs INTEGER NOT NULL,"
	"  mean REAL NOT NULL,"
	"  cv_pct REAL,"
	"  PRIMARY KEY (boot_id, metric_id)"
	") STRICT, WITHOUT ROWID;"

	/* Evidence is never changed, and deleted by `kbracket prune` only: a row stands here inside
	 * its transaction and at no other time. */
	"CREATE TABLE pruning (experiment_id INTEGER PRIMARY KEY) STRICT;" EVIDENCE("build")
		EVIDENCE("facts") EVIDENCE("program") EVIDENCE("environment") EVIDENCE("sample")
			EVIDENCE("raw") EVIDENCE("flag") EVIDENCE("event") EVIDENCE("boot_mean")

	/* derived: `kbracket judge` drops and rebuilds it */
	"CREATE TABLE verdict ("
	"  id INTEGER PRIMARY KEY,"
	"  experiment_id INTEGER NOT NULL REFERENCES experiment(id),"
	"  machine_id INTEGER NOT NULL REFERENCES machine(id),"
	"  metric_id INTEGER NOT NULL REFERENCES metric(id),"
	"  variant_id INTEGER NOT NULL REFERENCES variant(id),"
	"  against_id INTEGER NOT NULL REFERENCES variant(id),"
	"  word TEXT NOT NULL CHECK (word IN"
	"    ('regressed', 'improved', 'equivalent', 'inconclusive', 'invalid')),"
	"  reason TEXT NOT NULL DEFAULT '',"
	"  further_boots INTEGER," /* per kernel, that would decide it; NULL: not known */
	"  effect REAL,"	   /* ln ratio; NULL when there is none */
	"  effect_low REAL, effect_high REAL," /* 95 % interval, ln ratio */
	"  se REAL, df REAL, p REAL, q REAL,"
	"  method TEXT NOT NULL," /* how it was computed */
	"  method_version INTEGER NOT NULL,"
	"  boots INTEGER NOT NULL, runs INTEGER NOT NULL," /* of the variant */
	"  against_boots INTEGER NOT NULL, against_runs INTEGER NOT NULL,"
	"  mean REAL, cv_pct REAL," /* of the variant: mean of boot means, CV within boots */
	"  against_mean REAL, against_cv_pct REAL,"
	"  within_sd REAL, between_sd REAL,"			/* on the ln scale */
	"  drift REAL, drift_expected REAL,"			/* of the baseline; ratio - 1 */
	"  dropped INTEGER NOT NULL, flagged INTEGER NOT NULL," /* runs */
	"  word_kept TEXT NOT NULL DEFAULT ''," /* the verdict if dropped runs were kept */
	"  family INTEGER NOT NULL,"   /* size of the Benjamini-Hochberg family; 0: outside it */
	"  headline INTEGER NOT NULL," /* part of the exit code */
	"  judged_ns INTEGER NOT NULL,"
	"  version TEXT NOT NULL,"
	"  UNIQUE (experiment_id, machine_id, metric_id, variant_id)"
	") STRICT;";

/* observations: how many a percentile or mean is of; NULL: the program did not tell */
static const char version_2[] = "ALTER TABLE sample ADD COLUMN observations INTEGER;";

static const char version_3[] =
	/* plan: boots that were appended to an experiment's plan while it was walked, and what they
	 * were made from: resume makes the same plan again from it */
	"CREATE TABLE extension ("
	"  experiment_id INTEGER NOT NULL REFERENCES experiment(id),"
	"  machine_id INTEGER NOT NULL REFERENCES machine(id),"
	"  number INTEGER NOT NULL,"  /* from 1 */
	"  block INTEGER NOT NULL,"   /* that its boots belong to */
	"  repeats INTEGER NOT NULL," /* the block that it stands in for; 0: none */
	"  variants TEXT NOT NULL,"   /* JSON list: the position of each boot's variant */
	"  conditions TEXT NOT NULL," /* JSON list: positions of what is run in each boot */
	"  runs INTEGER NOT NULL,"    /* measured ones in a boot and condition */
	"  warmup INTEGER NOT NULL,"
	"  reason TEXT NOT NULL," /* a clause for people */
	"  made_ns INTEGER NOT NULL,"
	"  PRIMARY KEY (experiment_id, machine_id, number)"
	") STRICT, WITHOUT ROWID;";

/* A bisect: what an experiment's boots are for. Its events are the journal. */
static const char version_4[] =
	/* plan: what was asked for; the number that decides */
	"CREATE TABLE bisect ("
	"  experiment_id INTEGER PRIMARY KEY REFERENCES experiment(id),"
	"  axis TEXT NOT NULL CHECK (axis IN ('commits', 'patches', 'configs', 'features')),"
	"  spec TEXT NOT NULL," /* as YAML */
	"  tree TEXT NOT NULL," /* repository; '' */
	"  metric_id INTEGER NOT NULL REFERENCES metric(id),"
	"  listed INTEGER NOT NULL" /* steps that may be named: positions 1 to listed */
	") STRICT;"

	/* evidence: what lies between good (position 0) and bad, as it was when it began */
	"CREATE TABLE bisect_step ("
	"  experiment_id INTEGER NOT NULL REFERENCES experiment(id),"
	"  position INTEGER NOT NULL,"
	"  name TEXT NOT NULL," /* commit id, or what the step is called */
	"  subject TEXT NOT NULL,"
	"  author TEXT NOT NULL,"
	"  time_s INTEGER NOT NULL,"
	"  recipe TEXT NOT NULL," /* variant as JSON; '': that of position 0 with this commit */
	"  PRIMARY KEY (experiment_id, position)"
	") STRICT, WITHOUT ROWID;"

	/* evidence: what was decided and done, in order */
	"CREATE TABLE bisect_event ("
	"  experiment_id INTEGER NOT NULL REFERENCES experiment(id),"
	"  number INTEGER NOT NULL,"
	"  time_ns INTEGER NOT NULL,"
	"  kind TEXT NOT NULL CHECK (kind IN ('stage', 'boot', 'skip', 'good', 'bad', 'built',"
	"    'undo', 'proof', 'note')),"
	"  position INTEGER NOT NULL," /* of a step */
	"  other INTEGER NOT NULL,"    /* another step, the event that is undone, boots more */
	"  boot_id INTEGER REFERENCES boot(id),"
	"  proof_id INTEGER," /* experiment that compares a culprit with its parent */
	"  text TEXT NOT NULL,"
	"  PRIMARY KEY (experiment_id, number)"
	") STRICT, WITHOUT ROWID;" EVIDENCE("bisect_step") EVIDENCE("bisect_event");

static const char version_5[] =
	/* how many looks it has at most, one after every block; 0: its boots are fixed */
	"ALTER TABLE experiment ADD COLUMN looks INTEGER NOT NULL DEFAULT 0;"
	/* the half-width that it goes on until; NULL: until verdicts */
	"ALTER TABLE experiment ADD COLUMN until_pct REAL;"
	/* the look that the verdict was reached at, and its level; 0 and NULL: there are none */
	"ALTER TABLE verdict ADD COLUMN look INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE verdict ADD COLUMN level REAL;";

/* server_id: the program that served the measured one; NULL: none, or not known */
static const char version_6[] =
	"ALTER TABLE run ADD COLUMN server_id INTEGER REFERENCES program(id);";

/* kind: 0 measured, 1 warm-up, 2 counted (made again under counters) */
static const char version_7[] =
	"ALTER TABLE run RENAME COLUMN warmup TO kind;"

	/* evidence: what was counted in a run of kind 2, and the operations that it made */
	"CREATE TABLE counter ("
	"  run_id INTEGER NOT NULL REFERENCES run(id),"
	"  reading INTEGER NOT NULL," /* as of sample */
	"  position INTEGER NOT NULL,"
	"  name TEXT NOT NULL,"
	"  unit TEXT NOT NULL,"	       /* of value */
	"  total REAL,"		       /* in the whole run; NULL: not counted, reason says why */
	"  value REAL,"		       /* per operation, or per run where that is not known */
	"  counted_pct REAL NOT NULL," /* of the time; less than 100: total is an estimate */
	"  reason TEXT NOT NULL DEFAULT '',"
	"  PRIMARY KEY (run_id, reading, position)"
	") STRICT, WITHOUT ROWID;" EVIDENCE("counter");

/* control: 1 for another label of the kernel that it is compared with */
static const char version_8[] =
	"ALTER TABLE variant ADD COLUMN control INTEGER NOT NULL DEFAULT 0;";

static const char version_9[] =
	/* the percentile that the metric is; NULL: it is none */
	"ALTER TABLE metric ADD COLUMN percentile REAL;"
	/* 1: samples are observations, and that percentile is taken of those of a boot */
	"ALTER TABLE metric ADD COLUMN pooled INTEGER NOT NULL DEFAULT 0;"
	/* of a percentile: the fewest observations behind a boot's; where it lies by order
	 * statistics, mean over boots; NULL: not known */
	"ALTER TABLE verdict ADD COLUMN observations INTEGER;"
	"ALTER TABLE verdict ADD COLUMN against_observations INTEGER;"
	"ALTER TABLE verdict ADD COLUMN order_low REAL;"
	"ALTER TABLE verdict ADD COLUMN order_high REAL;"
	"ALTER TABLE verdict ADD COLUMN against_order_low REAL;"
	"ALTER TABLE verdict ADD COLUMN against_order_high REAL;";

static const char version_10[] =
	/* the variant that this one is in another code layout; NULL: it was written by a person */
	"ALTER TABLE variant ADD COLUMN layout_of_id INTEGER REFERENCES variant(id);"
	/* of a verdict of change: what other layouts say: 'held', 'suspect', 'open'; '' none was
	 * measured */
	"ALTER TABLE verdict ADD COLUMN layout TEXT NOT NULL DEFAULT '';";

static const char version_11[] =
	/* how its kernel was started: 'kexec', 'cold' (through the firmware); '' in none of these
	 * ways, or not yet */
	"ALTER TABLE boot ADD COLUMN start TEXT NOT NULL DEFAULT '';"
	"UPDATE boot SET start = coalesce((SELECT CASE method WHEN 'kexec' THEN 'kexec'"
	"  WHEN 'direct' THEN 'cold' ELSE '' END FROM attempt WHERE boot_id = boot.id"
	"  ORDER BY number DESC LIMIT 1), '');"

	/* evidence: the steps that were taken to get a machine back */
	"CREATE TABLE rung ("
	"  id INTEGER PRIMARY KEY,"
	"  experiment_id INTEGER NOT NULL REFERENCES experiment(id),"
	"  machine_id INTEGER NOT NULL REFERENCES machine(id),"
	"  boot_id INTEGER REFERENCES boot(id)," /* NULL: before the first */
	"  began_ns INTEGER NOT NULL,"
	"  kind TEXT NOT NULL CHECK (kind IN ('look', 'wait', 'restart', 'power')),"
	"  limit_ns INTEGER NOT NULL," /* that it was given */
	"  took_ns INTEGER NOT NULL,"
	/* what answered then: its own kernel, one of ours, nothing; or the step itself failed */
	"  found TEXT NOT NULL CHECK (found IN ('own', 'ours', 'nothing', 'failed')),"
	"  detail TEXT NOT NULL"
	") STRICT;"
	"CREATE INDEX rung_machine ON rung (experiment_id, machine_id, boot_id);" EVIDENCE("rung");

/* built: what the file says of its compilers and their options; '' nothing, or nobody looked */
static const char version_12[] = "ALTER TABLE program ADD COLUMN built TEXT NOT NULL DEFAULT '';";

const char *const schema_steps[SCHEMA_VERSION] = {version_1, version_2, version_3, version_4,
	version_5, version_6, version_7, version_8, version_9, version_10, version_11, version_12};
