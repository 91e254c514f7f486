import { CausewayError, messageOf } from "@causeway/foundation";
import { AFTER_PERMANENT, isPermanent } from "../backup/restore.ts";
import type { BackupState, ControlPlaneProblem, ControlPlaneSpec, ControlPlaneState } from "../runtime.ts";
import type { RestoreFailure } from "./observed.ts";
import type { Step } from "./steps.ts";

/** With what is known of its backups, or without. */
export function withBackup(state: ControlPlaneState, backup: BackupState | undefined): ControlPlaneState {
  if (backup !== undefined) return { ...state, backup };
  const without: { -readonly [F in keyof ControlPlaneState]: ControlPlaneState[F] } = { ...state };
  delete without.backup;
  return without;
}

/** Of one that was requested, before anything is known of it. */
export function requestedState(spec: ControlPlaneSpec): ControlPlaneState {
  return {
    ...leftover(),
    endpoint: spec.endpoint,
    version: spec.version,
    names: spec.names,
    limits: spec.limits,
    authentication: spec.authentication,
    starting: true,
  };
}

/** What an earlier process made and was not requested from this one yet. */
export function leftover(): ControlPlaneState {
  return {
    ready: false,
    runtime: "Pods",
    endpoint: { host: "", port: 0 },
    version: "",
    names: [],
    limits: { objects: 0, bytes: 0 },
    authentication: {},
    message: "the pods of the control plane are being checked",
  };
}

/** With the failure of a step. */
export function failedState(state: ControlPlaneState, step: Step, error: unknown) {
  const code = error instanceof CausewayError ? error.code : "CONTROL_PLANE_FAILED";
  const hint = error instanceof CausewayError && error.hint !== undefined ? `. ${error.hint}` : "";
  const message = `${step.type}: ${messageOf(error)}${hint}`;
  const problem = { code, message, actor: "operator" } as const;
  return {
    ...state,
    problem,
    message: `${message} (${code})`,
  };
}

/** Of a step that failed with a problem. Undefined: it was no restore, or another attempt may succeed. */
export function restoreFailureAfter(
  { step, error, problem }: { step: Step; error: unknown; problem: ControlPlaneProblem },
  now: number,
): RestoreFailure | undefined {
  return step.type === "restore" && isPermanent(error) ? { problem, until: now + AFTER_PERMANENT } : undefined;
}
