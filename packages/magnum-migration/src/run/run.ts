import { CausewayError, InputError, messageOf } from "@causeway/foundation";
import {
  deleteRecord,
  phaseNames,
  readRecord,
  writeRecord,
  type MigrationRecord,
  type PhaseName,
} from "../record/record.ts";
import type { AnyPhase, PhasePlan, Round, Step, Tools } from "../phase.ts";
import { createProgress, type Progress } from "./progress.ts";
import { isTransient, isUnreached } from "../transient.ts";
import { inTurn } from "./turn.ts";

/** Ms between reads of what a phase waits for, and without any change until it gives up. */
const PAUSE = 500;
const STEP_TIMEOUT = 30 * 60_000;
/** Ms for which reads and steps may fail in a row, of causes that pass by themselves. */
const FAILING = 5 * 60_000;
/** Rounds without a wait: more are a loop of our own making. */
const ROUNDS = 1_000;

/**
 * What a phase would do: all its steps, as far as they are known, and what it waits for between them; nothing is
 * changed. @throws MIGRATE_ORDER, and what the phase refuses of its options
 * @example
 * const { steps, wait, refused } = await planPhase(phases.adopt, tools, record, signal);
 */
export async function planPhase(
  phase: AnyPhase,
  tools: Tools,
  record: MigrationRecord,
  signal: AbortSignal,
): Promise<PhasePlan<Step>> {
  requireOrder(phase, record);
  const prepared = await phase.prepare(tools, record, signal);
  return (await phase.round(tools, prepared, signal)).remaining();
}

/** What a phase proved, and the record that says so. */
export interface PhaseResult {
  readonly proof: readonly string[];
  readonly record: MigrationRecord;
}

/**
 * Runs a phase to its end, and records what it proved. Run again after a crash, it continues. @throws MIGRATE_ORDER,
 * MIGRATE_BUSY, MIGRATE_TIMEOUT, and what the phase refuses
 */
export async function runPhase(
  phase: AnyPhase,
  tools: Tools,
  record: MigrationRecord,
  signal: AbortSignal,
): Promise<PhaseResult> {
  requireOrder(phase, record);
  const { management, clock, report, identity, isGone } = tools;
  const own = { ...(identity === undefined ? {} : { identity }), ...(isGone ? { isGone } : {}) };
  const turn = { client: management, clock, report, record, ...own };
  return inTurn(
    turn,
    // Another run may have changed it until this one got its turn.
    async (term) => runAlone(phase, tools, await readRecord(management, record.inventory.uuid, term), term),
    signal,
  );
}

async function runAlone(
  phase: AnyPhase,
  tools: Tools,
  record: MigrationRecord,
  signal: AbortSignal,
): Promise<PhaseResult> {
  requireOrder(phase, record);
  const failures = createFailures(tools);
  const prepared = await failures.repeat(() => phase.prepare(tools, record, signal), signal);
  const begun = phase.name === "rollback" ? prepared : { ...prepared, begun: phase.name };
  if (begun.begun !== record.begun || prepared !== record) await writeRecord(tools.management, begun, signal);
  const progress = createProgress(tools, begun, phase, signal);
  let proof: readonly string[];
  try {
    proof = await complete(phase, tools, begun, { progress, failures, signal });
    await progress.ended("Done");
  } catch (error) {
    await progress.ended("Failed").catch(() => {});
    throw error;
  }
  if (phase.name === "rollback") {
    await deleteRecord(tools.management, begun, signal);
    return { proof, record: begun };
  }
  const at = new Date(tools.clock.now()).toISOString();
  const done = { ...begun, phases: { ...begun.phases, [phase.name]: { at, proof } } };
  await writeRecord(tools.management, done, signal);
  return { proof, record: done };
}

interface PhaseRun {
  readonly progress: Progress;
  readonly failures: ReturnType<typeof createFailures>;
  readonly signal: AbortSignal;
}

async function complete(
  phase: AnyPhase,
  tools: Tools,
  record: MigrationRecord,
  { progress, failures, signal }: PhaseRun,
): Promise<readonly string[]> {
  // A phase may take hours, as long as something of it changes.
  let end = tools.clock.now() + STEP_TIMEOUT;
  let waited: Pick<PhasePlan<Step>, "wait" | "progress" | "publicWait"> | undefined;
  const noted = new Set<string>();
  for (let round = 0; round < ROUNDS;) {
    signal.throwIfAborted();
    let done: Awaited<ReturnType<typeof playRound>>;
    try {
      await progress.running(waited?.publicWait ?? waited?.wait);
      const next = await phase.round(tools, record, signal);
      failures.hasRead();
      for (const note of next.plan.notes ?? []) if (!noted.has(note)) tools.report(`note: ${note}`);
      for (const note of next.plan.notes ?? []) noted.add(note);
      done = await playRound(next, tools, signal);
      failures.clear();
    } catch (error) {
      signal.throwIfAborted();
      await failures.wait(error, signal);
      continue;
    }
    const { plan, performed } = done;
    if (performed > 0) {
      waited = undefined;
      end = tools.clock.now() + STEP_TIMEOUT;
      round += 1;
      continue;
    }
    if (plan.wait === undefined) return plan.proof;
    if (plan.wait !== waited?.wait) tools.report(`waiting for ${plan.wait}`);
    // Names of pods and reasons of a crash loop change without an end.
    if (waited === undefined || progressOf(plan) !== progressOf(waited)) end = tools.clock.now() + STEP_TIMEOUT;
    waited = plan;
    if (tools.clock.now() > end) throw timedOut(phase, plan.wait);
    await tools.clock.sleep(PAUSE, signal);
  }
  throw new CausewayError("MIGRATE_TIMEOUT", `Phase ${phase.name} took ${ROUNDS} steps and is not done`, {
    hint: "Read what it repeats with --dry-run.",
  });
}

/** @throws what the phase refuses */
export function requireAllowed({ refused }: Pick<PhasePlan<Step>, "refused">): void {
  if (refused) throw new CausewayError(refused.code, refused.message, { hint: refused.hint });
}

/** Does the next steps of what was decided. */
async function playRound(
  next: Round,
  tools: Tools,
  signal: AbortSignal,
): Promise<{ readonly plan: PhasePlan<Step>; readonly performed: number }> {
  const { plan } = next;
  requireAllowed(plan);
  const batch = plan.steps.slice(0, plan.batch ?? 1);
  for (const [index, step] of batch.entries()) {
    signal.throwIfAborted();
    tools.report(step.what);
    await next.perform(index);
  }
  return { plan, performed: batch.length };
}

/**
 * What passes by itself is repeated, as a command that is run again would: from a read on. A server that is not reached
 * before anything was read is an error of the command line, such as a wrong address, and ends the phase; one that
 * responds with what passes, such as an election in etcd, does not.
 */
function createFailures({ clock, report }: Pick<Tools, "clock" | "report">) {
  const begun = clock.now();
  let last: number | undefined;
  let shown: string | undefined;
  const wait = async (error: unknown, signal: AbortSignal): Promise<void> => {
    const isFinal = last === undefined && isUnreached(error);
    if (isFinal || !isTransient(error) || clock.now() - (last ?? begun) > FAILING) throw error;
    const reason = messageOf(error);
    if (reason !== shown) report(`waiting, and retrying: ${reason}`);
    shown = reason;
    await clock.sleep(PAUSE, signal);
  };
  return {
    hasRead(): void {
      last ??= clock.now();
    },
    clear(): void {
      last = clock.now();
      shown = undefined;
    },
    wait,
    /** Reads until nothing that passes by itself stops it. */
    async repeat<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T> {
      for (;;) {
        try {
          return await read();
        } catch (error) {
          signal.throwIfAborted();
          await wait(error, signal);
        }
      }
    },
  };
}

const timedOut = (phase: AnyPhase, wait: string): CausewayError =>
  new CausewayError("MIGRATE_TIMEOUT", `Phase ${phase.name} waited for 30 minutes for ${wait}`, {
    hint: "Clear what it waits for and run the phase again, or run rollback.",
  });

/** Each phase needs the one before it; a rollback needs that retire was not begun. */
function requireOrder({ name }: AnyPhase, { phases, begun, inventory }: MigrationRecord): void {
  if (name === "rollback") {
    if (begun !== "retire") return;
    throw new InputError(
      "MIGRATE_TOO_LATE",
      `The migration of cluster ${inventory.name} cannot be rolled back: retire was begun`,
      {
        hint: "Run retire again to complete it.",
      },
    );
  }
  const before = phaseNames[phaseNames.indexOf(name) - 1];
  if (before !== undefined && phases[before] === undefined)
    throw new InputError(
      "MIGRATE_ORDER",
      `Phase ${name} of cluster ${inventory.name} needs phase ${before}, which is not done`,
      {
        hint: `Run: causeway migrate magnum ${before} ${inventory.name}`,
      },
    );
  const later = phaseNames.slice(phaseNames.indexOf(name as PhaseName) + 1).find((one) => phases[one] !== undefined);
  if (later !== undefined)
    throw new InputError("MIGRATE_ORDER", `Phase ${name} of cluster ${inventory.name} was done, and so was ${later}`, {
      hint: "Run the next phase.",
    });
}

const progressOf = ({ progress, wait }: Pick<PhasePlan<Step>, "progress" | "wait">): string | undefined =>
  progress ?? wait;
