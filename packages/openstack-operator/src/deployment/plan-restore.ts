import type { OpenStackDeployment, OpenStackDeploymentStatus } from "@causeway/api";
import { secretText, timestamp, type KubeObject, type Pod, type WantedCondition } from "@causeway/kubernetes";
import { annotations, labels } from "../model/names.ts";
import { isRestoring, restoreIdOf } from "../restore/jobs.ts";
import { mutableSecrets, type Desired } from "../render/desired.ts";
import { isDone, judgeComponents, type Judged } from "./components.ts";
import { isMissing } from "./difference.ts";
import { idOf, type Observed } from "./gather.ts";
import type { Step } from "./steps.ts";
import { shownText } from "./shown-text.ts";

type RestoreStatus = NonNullable<OpenStackDeploymentStatus["restore"]>;

/** What a restore does before there are passwords. Undefined: the deployment has them, or no restore is wanted. */
export interface KeysPlan {
  readonly steps: readonly Step[];
  /** Why nothing is done. */
  readonly refusal?: string;
  readonly step: string;
}

const KEYS_JOB = "restore-keys";

/** Have the passwords and keys of the wanted backup been adopted? */
function hasRestoredKeys({ deployment, credentials }: Observed): boolean {
  return credentials?.metadata.annotations?.[annotations.restored] === restoreIdOf(deployment);
}

/**
 * Passwords and keys of a backup come before everything: what is made with others could not read the data. A
 * deployment whose Secrets are still there has data, and keeps them unless the specification says otherwise.
 */
export function planKeys(observed: Observed, desire: () => Desired): KeysPlan | undefined {
  const { deployment, credentials, restoredKeys } = observed;
  if (!isRestoring(deployment) || hasRestoredKeys(observed)) return undefined;
  const { name } = deployment.metadata;
  const backup = restoreIdOf(deployment) ?? "";
  if (credentials && deployment.spec.restore?.overwrite !== true) {
    const message = `Secret ${mutableSecrets(name).credentials} exists: the deployment holds data, which a restore would replace`;
    return { steps: [], refusal: message, step: "holds data" };
  }
  if (secretText(restoredKeys, "keys") !== undefined && secretText(restoredKeys, "backup") === backup) {
    const steps: Step[] = [{ type: "adopt-keys", name: mutableSecrets(name).credentials, backup }];
    return { steps, step: "takes over passwords and keys" };
  }
  const desired = desire();
  const wanted = desired.foundation.map(({ object }) => object).filter(isOfKeys);
  const missing = wanted.filter((object) => isMissing(object, observed.objects));
  const judged = judgeComponents(desired, observed).get(KEYS_JOB);
  const writes = missing.length > 0 ? missing : (judged?.writes ?? []);
  const steps = writes.map((object): Step => ({ type: "apply", name: idOf(object), object }));
  const failed = judged?.readiness.state === "Failed" ? judged.readiness.step : undefined;
  const message = terminationOf(observed.pods, KEYS_JOB) ?? failed;
  return { steps, step: message === undefined ? "decrypts passwords and keys" : `${KEYS_JOB}: ${message}` };
}

/** What the Job of the keys needs, and nothing else of the deployment. */
function isOfKeys({ kind, metadata }: KubeObject): boolean {
  const component = metadata.labels?.[labels.component];
  if (component !== undefined) return component === KEYS_JOB;
  const revision = metadata.labels?.[labels.revision];
  return revision === undefined ? kind === "NetworkPolicy" : revision === `${KEYS_JOB}-programs`;
}

/** What a Job's pod reported when it ended last. */
function terminationOf(pods: readonly Pod[], component: string): string | undefined {
  for (const { metadata, status } of pods) {
    if (metadata.labels?.[labels.component] !== component) continue;
    for (const { state, lastState } of (status?.containerStatuses ?? []) as ContainerState[]) {
      const ended = state?.terminated ?? lastState?.terminated;
      if (ended?.exitCode !== 0 && ended?.message) return shownText(ended.message);
    }
  }
  return undefined;
}

interface ContainerState {
  readonly state?: { readonly terminated?: { readonly exitCode?: number; readonly message?: string } };
  readonly lastState?: { readonly terminated?: { readonly exitCode?: number; readonly message?: string } };
}

interface RestoreStep {
  /** Type of its condition. */
  readonly name: string;
  readonly belongs: (judged: Judged) => boolean;
}

/** The steps after the keys, in their order. Each is a condition of the deployment. */
const STEPS: readonly RestoreStep[] = [
  { name: "DatabasesRestored", belongs: ({ component }) => component.name.endsWith("-db-restore") },
  { name: "NetworkRestored", belongs: ({ component }) => component.name === "ovn-nb-restore" },
  { name: "NetworkRepaired", belongs: ({ component }) => component.name === "neutron-ovn-sync" },
];
const RESTORE_STEPS: readonly string[] = ["KeysRestored", ...STEPS.map(({ name }) => name)];

/** The status of a restore that has not come to its end. `judged` undefined: there are no passwords yet. */
export function restoreStatusOf(
  { status }: OpenStackDeployment,
  at: {
    readonly id: string;
    readonly judged: ReadonlyMap<string, Judged> | undefined;
    readonly now: number;
  },
  step?: string,
): RestoreStatus {
  const { id, judged, now } = at;
  const startedAt = status?.restore?.from === id ? status.restore.startedAt : timestamp(now);
  const done = judged ? ["KeysRestored", ...STEPS.filter((each) => isOver(each, judged)).map(({ name }) => name)] : [];
  const isComplete = judged !== undefined && [...judged.values()].every(isDone);
  const current = RESTORE_STEPS.find((name) => !done.includes(name)) ?? "Starting";
  return {
    from: id,
    step: (step ?? (isComplete ? "Done" : current)).slice(0, 512),
    done,
    startedAt,
    ...(isComplete ? { completedAt: timestamp(now) } : {}),
  };
}

const isOver = ({ belongs }: RestoreStep, judged: ReadonlyMap<string, Judged>): boolean =>
  [...judged.values()].filter(belongs).every(isDone);

/** One condition for each step of the restore; none without a restore. `refusal`: why it does not begin. */
export function restoreConditions(restore: RestoreStatus | undefined, refusal?: string): WantedCondition[] {
  if (!restore) return [];
  const message = refusal ?? `backup ${restore.from}`;
  return RESTORE_STEPS.map((type) =>
    restore.done.includes(type)
      ? { type, status: "True", reason: "Done", message: `backup ${restore.from}` }
      : { type, status: "False", reason: refusal === undefined ? "NotYet" : "HoldsData", message },
  );
}
