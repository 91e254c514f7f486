import { adopt } from "../phases/adopt/phase.ts";
import { freeze } from "../phases/freeze/phase.ts";
import { importPhase } from "../phases/import/phase.ts";
import { retire } from "../phases/retire/phase.ts";
import { roll } from "../phases/roll/phase.ts";
import { rollback } from "../phases/rollback/phase.ts";
import { switchPhase } from "../phases/switch/phase.ts";
import type { AnyPhase } from "../phase.ts";

/** A phase that a command can run. */
export type RunnablePhase = "freeze" | "import" | "switch" | "adopt" | "roll" | "retire" | "rollback";

/** Every phase after discover, by the name of its command. */
export const phases: Readonly<Record<RunnablePhase, AnyPhase>> = {
  freeze,
  import: importPhase,
  switch: switchPhase,
  adopt,
  roll,
  retire,
  rollback,
};
