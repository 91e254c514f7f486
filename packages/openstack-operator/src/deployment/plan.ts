import type { OpenStackDeploymentStatus } from "@causeway/api";
import { CausewayError } from "@causeway/foundation";
import { setConditions, type KubeObject, type Node, type Plan } from "@causeway/kubernetes";
import { resolveCatalogue, type Catalogue } from "../catalogue/index.ts";
import type { TlsMaterial } from "../config/index.ts";
import { readCredentials, type Credentials } from "../credentials/credentials.ts";
import { labels } from "../model/names.ts";
import type { BackendOperator } from "../model/component.ts";
import { desiredOf, lastingComponents, mutableSecrets, type Desired, type DesireOptions } from "../render/desired.ts";
import { computeGroups } from "../render/context.ts";
import { isRestoring, restoreIdOf } from "../restore/jobs.ts";
import { chooseBackends } from "./backends.ts";
import { cellRefusal } from "./cells.ts";
import { isDone, judgeComponents, statusOf, type Judged } from "./components.ts";
import { conditionsOf } from "./conditions.ts";
import { isMissing } from "./difference.ts";
import { eventsOf } from "./component-events.ts";
import { idOf, type Observed } from "./gather.ts";
import { paused, reasonOf, refused, waiting } from "./held.ts";
import { planBackup, type BackupPlan } from "./plan-backup.ts";
import { ovnDatabasesOf, rebuiltOf, type OvnDatabases } from "./plan-ovn-databases.ts";
import { planKeys, restoreConditions, restoreStatusOf, type KeysPlan } from "./plan-restore.ts";
import { unusedRevisions } from "./revisions.ts";
import {
  credentialKeysGeneration,
  missingCredentials,
  renewedAtAnnotation,
  renewCertificate,
  rotateKeys,
  rotatePasswords,
  rotateTokenKeys,
  rotationStatus,
  type KeyRotation,
  type PasswordRotation,
} from "./rotation.ts";
import type { Step } from "./steps.ts";
import { planTls, type TlsPlan } from "./tls.ts";
import { isUnpinned, lacksRowsAtMost, oneUpgradeAtATime, upgradeOf, type Upgrade } from "./upgrade.ts";

/** The status that the plan makes. */
export type Status = OpenStackDeploymentStatus;

/** Renders what a deployment should consist of; a cache of it may be given. */
export type Desire = (options: DesireOptions) => Desired;

/** The steps towards a deployment, and its status. Pure. */
export function plan(observed: Observed, now: number, desire: Desire = desiredOf): Plan<Step, Status> {
  const { deployment } = observed;
  if (deployment.metadata.deletionTimestamp !== undefined) return { steps: [], status: deployment.status ?? {} };
  if (deployment.spec.paused) return paused(observed, now);
  try {
    return oneUpgradeAtATime(observed, now, (held) => planned(held, now, desire));
  } catch (error) {
    if (!(error instanceof CausewayError)) throw error;
    return refused(observed, now, { reason: reasonOf(error.code), message: `${error.message}. ${error.hint ?? ""}` });
  }
}

function planned(observed: Observed, now: number, desire: Desire): Plan<Step, Status> {
  const { deployment } = observed;
  const { name } = deployment.metadata;
  if (!observed.isComplete) return { steps: [], status: deployment.status ?? {} };
  const plain = resolveCatalogue(deployment.spec);
  const cells = cellRefusal(observed);
  if (cells !== undefined) return refused(observed, now, { reason: "CellRefused", message: cells });
  const nodes = computeNodes(observed, plain);
  const keys = planKeys(observed, () => judge(observed, { credentials: NO_CREDENTIALS, nodes, desire }).desired);
  if (keys) return restoringKeys(observed, now, keys);
  const given = prerequisites(observed, plain, { now, nodes: nodes.map(({ metadata }) => metadata.name) });
  if ("steps" in given) return given;
  const { credentials, operators, tls, next } = given;
  const ovn = ovnDatabasesOf(observed);
  const found = judge(observed, { credentials, nodes, desire, material: tls.material, operators, ovn });
  const { desired, judged, upgrade } = found;
  if (desired.problems.length > 0) {
    const message = desired.problems.map((problem) => `${problem.service}: ${problem.message}`).join("; ");
    return refused(observed, now, { reason: "UnknownOption", message: message.slice(0, 8_000) });
  }
  // A migration of rows that failed holds back the next upgrade alone.
  const isCalm = lacksRowsAtMost(judged);
  const isDoneNow = (component: string) => isCalm || isDone(judged.get(component));
  const rotation = rotatePasswords(credentials, lastingComponents(desired.catalogue), {
    name: mutableSecrets(name).credentials,
    wanted: deployment.spec.rotation?.passwords ?? 0,
    isDone: isDoneNow,
  });
  const keyRotation = rotateKeys(
    { credentials, secret: observed.credentialKeys },
    {
      names: mutableSecrets(name),
      wanted: deployment.spec.rotation?.keys ?? 0,
      isSettled: isCalm && rotation.doing === undefined,
    },
  );
  const isRotating = rotation.doing !== undefined || keyRotation.doing !== undefined;
  // Databases of an installation or an upgrade that is half done are no backup.
  const isSettled = !isRotating && isCalm && deployment.status?.release !== undefined;
  const backup = planBackup({ observed, desired, isSettled, now });
  const steps = [...foundationSteps(observed, desired), ...componentSteps(judged)];
  const last =
    steps.length > 0
      ? []
      : [
          ...rotation.steps,
          ...keyRotation.steps,
          ...backup.steps,
          ...cleanup(observed, desired, { judged, kept: tls.objects }),
        ];
  const rebuilt = rebuiltOf(ovn, judged, now);
  const facts = { judged, upgrade, isUnpinned: found.isUnpinned, rotation, keyRotation, backup, rebuilt };
  const status = statusNow(observed, now, facts);
  const events = [
    ...eventsOf(deployment.status?.components, status.components),
    ...backup.events,
    ...rebuilt.nb.events,
    ...rebuilt.sb.events,
  ];
  const until = Math.min(next, tls.next ?? Infinity, backup.next ?? Infinity);
  const wait = { for: "a change of the deployment's objects", until };
  return { steps: [...steps, ...last], status, events, wait };
}

interface Prerequisites {
  readonly credentials: Credentials;
  readonly operators: Readonly<Record<string, BackendOperator>>;
  readonly tls: TlsPlan;
  /** When the first of keys and certificates is due. */
  readonly next: number;
}

/** What everything is rendered from, or the plan that comes before it is there. */
function prerequisites(
  observed: Observed,
  catalogue: Catalogue,
  at: { readonly now: number; readonly nodes: readonly string[] },
): Prerequisites | Plan<Step, Status> {
  const { operators, refusal } = chooseBackends(observed, catalogue.components);
  if (refusal !== undefined) return refused(observed, at.now, { reason: "BackendRefused", message: refusal });
  const tls = planTls(observed, catalogue.components, at.now);
  if (tls.refusal !== undefined)
    return refused(observed, at.now, { reason: "CertificateInvalid", message: tls.refusal });
  const { credentials, steps: made, next } = prepare(observed, catalogue, at);
  const steps = [...made, ...tls.steps];
  if (!credentials || steps.length > 0) return { steps, status: observed.deployment.status ?? {} };
  if (tls.waitsFor !== undefined)
    return waiting(observed, at.now, { reason: "CertificateMissing", message: tls.waitsFor });
  return { credentials, operators, tls, next };
}

/** Nothing but a restore of keys is rendered without passwords. */
const NO_CREDENTIALS: Credentials = { generation: 0, accounts: [0], values: {} };

function restoringKeys(observed: Observed, now: number, { steps, refusal, step }: KeysPlan): Plan<Step, Status> {
  const { metadata, status: { maintenance: _nodes, ...status } = {} } = observed.deployment;
  const restore = restoreStatusOf(
    observed.deployment,
    { id: restoreIdOf(observed.deployment) ?? "", judged: undefined, now },
    step,
  );
  const conditions = setConditions(
    status.conditions,
    [
      ...restoreConditions(restore, refusal),
      {
        type: "Ready",
        status: "False",
        reason: refusal === undefined ? "Restoring" : "HoldsData",
        message: refusal ?? step,
      },
    ],
    { generation: metadata.generation, now },
  );
  const isNew = status.conditions?.find(({ type }) => type === "Ready")?.message !== refusal;
  return {
    steps,
    status: {
      ...status,
      conditions,
      ...(metadata.generation === undefined ? {} : { observedGeneration: metadata.generation }),
      phase: refusal === undefined ? "Restoring" : "Refused",
      restore,
    },
    events: refusal !== undefined && isNew ? [{ type: "Warning", reason: "HoldsData", message: refusal }] : [],
    wait: { for: "the passwords and keys of the backup" },
  };
}

/** Services with certificates of their own. */
const CERTIFIED = ["libvirt", "octavia"] as const;

interface Prepared {
  readonly credentials: Credentials | undefined;
  readonly steps: readonly Step[];
  /** Infinity where something is due now. */
  readonly next: number;
}

/** Passwords, keys and certificates: they come before anything that mounts them. */
function prepare(observed: Observed, catalogue: Catalogue, at: { now: number; nodes: readonly string[] }): Prepared {
  const { deployment, objects } = observed;
  const { name } = deployment.metadata;
  const { spec } = deployment;
  const names = mutableSecrets(name);
  const credentials = readCredentials(observed.credentials?.data);
  const missing = missingCredentials(credentials, catalogue.components, {
    name: names.credentials,
    wanted: spec.rotation?.passwords ?? 0,
  });
  const tokenKeys = rotateTokenKeys(spec, { secret: observed.tokenKeys, name: names.tokenKeys, now: at.now });
  const credentialKeys: Step[] = observed.credentialKeys ? [] : [{ type: "create-keys", name: names.credentialKeys }];
  const certificates = CERTIFIED.filter((service) => catalogue.services.has(service)).map((service) => {
    const secretName = `${name}-${service}-certificates`;
    const secret = objects.get(`Secret/${secretName}`);
    const hosts = service === "libvirt" ? at.nodes : [`octavia.${spec.domain}`];
    return renewCertificate(spec, { secret, name: secretName, hosts, now: at.now });
  });
  const times = [tokenKeys.next, ...certificates.map(({ next }) => next)].filter((time) => time !== undefined);
  return {
    credentials,
    steps: [...missing, ...tokenKeys.steps, ...credentialKeys, ...certificates.flatMap(({ steps }) => steps)],
    next: Math.min(...times),
  };
}

/** What a deployment that has its credentials should consist of. */
export function desiredFor(observed: Observed): Desired {
  const credentials = readCredentials(observed.credentials?.data) ?? NO_CREDENTIALS;
  const catalogue = resolveCatalogue(observed.deployment.spec);
  const nodes = computeNodes(observed, catalogue);
  const { material } = planTls(observed, catalogue.components, 0);
  const { operators } = chooseBackends(observed, catalogue.components);
  const ovn = ovnDatabasesOf(observed);
  return judge(observed, { credentials, nodes, desire: desiredOf, material, operators, ovn }).desired;
}

interface JudgeWith {
  readonly credentials: Credentials;
  readonly nodes: readonly Node[];
  readonly desire: Desire;
  readonly material?: TlsMaterial | undefined;
  readonly operators?: Readonly<Record<string, BackendOperator>>;
  readonly ovn?: OvnDatabases;
}

function judge(observed: Observed, { credentials, nodes, desire, material, operators, ovn }: JudgeWith) {
  const { deployment } = observed;
  const upgrade = upgradeOf(deployment);
  const options = {
    deployment,
    credentials,
    computeNodes: nodes.map(({ metadata }) => metadata.name),
    ...(upgrade ? { upgradeFrom: upgrade.from } : {}),
    credentialKeys: String(credentialKeysGeneration(observed.credentialKeys)),
    certificates: renewals(observed),
    ...(material ? { tls: material } : {}),
    ...(operators ? { operators } : {}),
    ...(isRestoring(deployment) ? { isRestoring: true } : {}),
    ...(ovn ? { ovn: renderedOf(ovn) } : {}),
    ...(ovn?.known ? { knownDatabases: ovn.known } : {}),
  };
  const { release } = deployment.spec;
  const desired = desire({ ...options, messagesOf: upgrade?.from ?? release });
  const judged = judgeComponents(desired, observed);
  // Once no process of the older release is left, processes start again without the limit to its messages.
  if (!upgrade || !isUnpinned(release, judged, observed.objects))
    return { desired, judged, upgrade, isUnpinned: false };
  const unpinned = desire({ ...options, messagesOf: release });
  return { desired: unpinned, judged: judgeComponents(unpinned, observed), upgrade, isUnpinned: true };
}

const renderedOf = ({ nb, sb }: OvnDatabases) => ({
  ...(nb.rendered ? { nb: nb.rendered } : {}),
  ...(sb.rendered ? { sb: sb.rendered } : {}),
});

/** When certificates were renewed, by service. */
function renewals({ deployment, objects }: Observed): Record<string, string> {
  const found = CERTIFIED.flatMap((service) => {
    const secret = objects.get(`Secret/${deployment.metadata.name}-${service}-certificates`);
    const renewed = secret?.metadata.annotations?.[renewedAtAnnotation];
    return renewed === undefined ? [] : [[service, renewed] as const];
  });
  return Object.fromEntries(found);
}

/** Nodes of the groups that run servers, by name. */
function computeNodes({ nodes, deployment }: Observed, { components }: Catalogue): Node[] {
  if (!components.some(({ name }) => name === "nova-compute")) return [];
  const groups = computeGroups(deployment.spec);
  const isIn = ({ metadata }: Node) =>
    groups.some(({ nodeSelector }) =>
      Object.entries(nodeSelector).every(([key, value]) => metadata.labels?.[key] === value),
    );
  return nodes.filter(isIn).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

const apply = (object: KubeObject): Step => ({ type: "apply", name: idOf(object), object });

function foundationSteps(observed: Observed, { foundation }: Desired): Step[] {
  return foundation
    .map(({ object }) => object)
    .filter((object) => isMissing(object, observed.objects))
    .map(apply);
}

/** Workloads whose dependencies are up to date and serve. */
function componentSteps(judged: ReadonlyMap<string, Judged>): Step[] {
  return [...judged.values()].filter(({ unmet }) => unmet.length === 0).flatMap(({ writes }) => writes.map(apply));
}

/**
 * What the deployment no longer consists of: older Jobs, components that were disabled, configuration that nothing
 * uses.
 */
function cleanup(
  observed: Observed,
  desired: Desired,
  { judged, kept }: { readonly judged: ReadonlyMap<string, Judged>; readonly kept: readonly KubeObject[] },
): Step[] {
  const rendered = [...desired.foundation, ...[...desired.workloads.values()].flat()];
  const wanted = new Set([...rendered.map(({ object }) => object), ...kept].map(idOf));
  const isObsolete = (object: KubeObject): boolean => {
    const component = object.metadata.labels?.[labels.component];
    // Runs of backups are the backups' own.
    if (object.metadata.labels?.[labels.run] !== undefined) return false;
    if (component === undefined || wanted.has(idOf(object)) || object.metadata.deletionTimestamp !== undefined)
      return false;
    const successor = judged.get(component);
    return !successor || isDone(successor);
  };
  return [...[...observed.objects.values()].filter(isObsolete), ...unusedRevisions(observed, wanted)].map((object) => ({
    type: "delete",
    name: idOf(object),
    object,
  }));
}

interface Facts {
  readonly judged: ReadonlyMap<string, Judged>;
  readonly upgrade: Upgrade | undefined;
  readonly isUnpinned: boolean;
  readonly rotation: PasswordRotation;
  readonly keyRotation: KeyRotation;
  readonly backup: BackupPlan;
  readonly rebuilt: ReturnType<typeof rebuiltOf>;
}

function statusNow(observed: Observed, now: number, facts: Facts): Status {
  const { judged, upgrade, rotation, keyRotation, backup, rebuilt } = facts;
  const { metadata, spec, status = {} } = observed.deployment;
  const components = statusOf(judged, observed);
  const ready = components.filter(({ state }) => state === "Ready").length;
  const all = [...judged.values()].every(isDone);
  const release = all ? spec.release : status.release;
  const id = isRestoring(observed.deployment) ? restoreIdOf(observed.deployment) : undefined;
  const restore = id === undefined ? status.restore : restoreStatusOf(observed.deployment, { id, judged, now });
  return {
    conditions: conditionsOf({
      deployment: observed.deployment,
      judged,
      components,
      upgrade,
      isUnpinned: facts.isUnpinned,
      restore,
      ovn: rebuilt,
      now,
    }),
    ...(metadata.generation === undefined ? {} : { observedGeneration: metadata.generation }),
    ...(release === undefined ? {} : { release }),
    phase: all
      ? "Ready"
      : upgrade
        ? "Upgrading"
        : id !== undefined
          ? "Restoring"
          : status.release === undefined
            ? "Installing"
            : "Updating",
    ready: `${ready}/${components.length}`,
    components,
    ...(upgrade && !all ? { upgrade: upgrade.status(facts, now) } : {}),
    ...backup.status,
    ...(restore ? { restore } : {}),
    ...(rebuilt.nb.status ? { northbound: rebuilt.nb.status } : {}),
    ...(rebuilt.sb.status ? { southbound: rebuilt.sb.status } : {}),
    rotation: rotationStatus(observed, { all, rotation, keyRotation }),
  };
}
