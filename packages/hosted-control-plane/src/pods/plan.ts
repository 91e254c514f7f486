import type { KubeObject, Plan, Service } from "@causeway/kubernetes";
import { type ControlPlaneProblem, type ControlPlaneState } from "../runtime.ts";
import type { Endpoint, Observed } from "./observed.ts";
import { imagesOf } from "./images.ts";
import { isRestored, restoreFailureOf, restoreSteps, restoring } from "./keyspace.ts";
import { handedOver, heldSteps } from "./hand-over/held.ts";
import { idOf } from "./live.ts";
import { heldByOf } from "./migration/api-servers.ts";
import {
  ownEtcdOf,
  planMigration,
  returnInTime,
  returnsAt,
  thawSteps,
  whileRefused,
} from "./migration/plan-migration.ts";
import { datastoreWithData, isBetween, migrationOf } from "./migration/served.ts";
import { isPooled } from "./options.ts";
import { grantOf } from "./ceilings.ts";
import { etcdRoot, rootCredentials } from "./objects/credentials.ts";
import { insideOf } from "./gateway.ts";
import { credentialsOf, issueSteps, ownEtcdCredentials } from "./plan-credentials.ts";
import { endpointOf, SINK_POLICY, tenantNetwork, withoutWithdrawn, withoutWithdrawnSinks } from "./objects/network.ts";
import { applySteps, initializedNamespace, namespaceSteps } from "./plan-objects.ts";
import { etcdAuthoritySteps } from "./plan-etcd-authority.ts";
import { copyName, keySteps } from "./plan-keys.ts";
import { isResizing, membershipProblem, memberSteps } from "./plan-members.ts";
import { keysOf, refusalOf } from "./refusals.ts";
import { podProblem } from "./rollout.ts";
import { stagesOf, type Stages } from "./stages.ts";
import type { Step } from "./steps.ts";
import { isJoinedAt, joinedAt, joinSteps, ownAddresses, urlOf, waitsToPublish } from "./plan-join.ts";
import { stateOf } from "./state-of.ts";
import type { NetworkPolicy } from "./types.ts";
import { budgetOf } from "./sizes.ts";
import {
  appliedAnnotation,
  budgetAnnotation,
  componentLabel,
  datastoreAnnotation,
  grantedAnnotation,
  inputsAnnotation,
  joinedAnnotation,
  migratingAnnotation,
  poolAnnotation,
  prefixOf,
  renewAtAnnotation,
  restoredAnnotation,
  retainedAnnotation,
} from "./tenant.ts";

/** How often the cloud's configuration is read again. */
const REREAD = 300_000;
/**
 * Pauses between reads of an etcd whose members change: the shortest and the longest. No watched object changes then.
 */
const MEMBERS_AGAIN = [1_000, 60_000] as const;
/** The pause between reads of an etcd from which the operator has to remove a member. */
const MEMBERS_REPAIRED = 30_000;

/**
 * The rules of a control plane as pods. Order: namespace, keys, Service, certificates, then the programs in stages
 * (etcd, the API servers, the controllers): a stage begins when the one before has rolled out. Each object is written
 * only when it differs.
 */
export function plan(seen: Observed, now: number): Plan<Step, ControlPlaneState> {
  const held = heldSteps(seen);
  if (held !== undefined) return { steps: held, status: stateOf(seen, handedOver), wait: { for: handedOver.message } };
  const planned = planServing({ ...seen, nextEtcd: ownEtcdOf(seen, now) }, now);
  const thaw = thawSteps(seen);
  if (thaw.length > 0) return { ...planned, steps: thaw };
  const limit = returnsAt(seen);
  if (limit === undefined) return planned;
  if (now >= limit) return { ...planned, steps: [...returnInTime(seen)] };
  const { wait = { for: "the move to its own etcd" } } = planned;
  return { ...planned, wait: { ...wait, until: Math.min(wait.until ?? Infinity, limit) } };
}

function planServing(observed: Observed, now: number): Plan<Step, ControlPlaneState> {
  const refusal = refusalOf(observed);
  if (refusal !== undefined) {
    const { steps, until } = whileRefused(observed, refusal, now);
    const wait = waitFor(refusal, now);
    const again = Math.min(until ?? Infinity, wait.until ?? Infinity);
    return {
      steps: steps.length > 0 ? steps : withdrawnSteps(observed, refusal),
      status: stateOf(observed, refusal),
      wait: again === Infinity ? wait : { ...wait, until: again },
    };
  }
  const early = [
    ...namespaceSteps({
      ...observed,
      id: observed.spec.id,
      key: "Secret/encryption",
      annotations: annotationsOf(observed),
    }),
    ...keySteps(keysOf(observed), rootCredentials(observed.spec)),
    ...keySteps({ ...keysOf(observed), hasData: false }, nextEtcdRoots(observed)),
  ];
  if (early.length > 0 || !initializedNamespace(observed.namespace))
    return { steps: firstOf(early), status: stateOf(observed, creating) };
  const { poolNamespace } = observed;
  const moving = {
    heldBy: heldByOf(observed),
    both: isBetween(observed),
    ...(poolNamespace === undefined ? {} : { pool: poolNamespace }),
  };
  const network = tenantNetwork(observed.spec, observed.namespaceName, observed.settings, moving);
  const service = observed.live.get("Service/kube-apiserver") as Service | undefined;
  const endpoint = endpointOf(observed.spec, service, observed.settings);
  if (endpoint === undefined) {
    const problem = withoutEndpoint(service);
    return {
      steps: applySteps(observed.live, network),
      status: stateOf(observed, problem),
      wait: waitFor(problem, now),
    };
  }
  return planPrograms(observed, { network, endpoint }, now);
}

/**
 * Nothing else is changed while a request is refused. A network that the operator does not permit any more is closed
 * all the same: a request that is refused for ever would keep it.
 */
function withdrawnSteps({ live, settings }: Observed, { code }: ControlPlaneProblem): readonly Step[] {
  if (code === "PODS_NAMESPACE_FOREIGN" || code === "PODS_NAMESPACE_DELETED") return [];
  const policy = (name: string) => live.get(`NetworkPolicy/${name}`) as NetworkPolicy | undefined;
  const closed = [
    withoutWithdrawn(policy("kube-apiserver"), settings),
    withoutWithdrawnSinks(policy(SINK_POLICY), settings),
  ];
  return applySteps(
    live,
    closed.flatMap((each) => each ?? []),
  );
}

function planPrograms(
  observed: Observed,
  { network, endpoint }: { network: readonly KubeObject[]; endpoint: Endpoint },
  now: number,
): Plan<Step, ControlPlaneState> {
  const pooled = poolSteps(observed);
  // Without the root of the shared etcd no certificate for it can be issued.
  const isBlocked = isPooled(observed.spec) && observed.pool?.authority === undefined;
  if (pooled.problem !== undefined && (isBlocked || !observed.live.has("Deployment/kube-apiserver")))
    return { steps: applySteps(observed.live, network), status: stateOf(observed, pooled.problem, endpoint) };
  const credentials = [...credentialsOf(observed, endpoint), ...nextEtcdCredentials(observed)];
  const issue = issueSteps(observed, credentials, now);
  const images = imagesOf(observed.spec.version, observed.settings);
  if (issue.length > 0 || images === undefined)
    return { steps: [...applySteps(observed.live, network), ...issue], status: stateOf(observed, creating, endpoint) };
  const inside = insideOf(observed.spec, endpoint, observed.settings);
  const stages = stagesOf(observed, { endpoint: inside, images });
  const wanted = [...network, ...stages.objects];
  const kept = new Set([
    ...wanted.map(idOf),
    ...[...rootCredentials(observed.spec), ...nextEtcdRoots(observed)].flatMap(({ name }) => [
      `Secret/${name}`,
      `Secret/${copyName(name)}`,
    ]),
    ...credentials.map(({ name }) => `Secret/${name}`),
  ]);
  const server = urlOf(endpoint);
  const join = joinSteps(observed, stages, { server, port: inside.port });
  const isUnpublished = stages.isServing && waitsToPublish(observed, server);
  const isDone = stages.isComplete && !isUnpublished;
  const failure = restoreFailureOf(observed, now);
  const status = stateOf(
    observed,
    isDone ? undefined : (pooled.problem ?? failure?.problem ?? problemIn(observed, stages, now)),
    endpoint,
  );
  const restore = failure === undefined ? restoreSteps(observed, stages.isEtcdDone) : [];
  const planned = [
    ...applySteps(observed.live, wanted),
    ...prune(observed, kept, stages.untouched),
    ...pooled.steps,
    ...restore,
    ...join,
  ];
  return planRest(observed, { planned, stages, isDone, status, server, inside }, now);
}

interface Planned {
  readonly planned: readonly Step[];
  readonly stages: Stages;
  readonly isDone: boolean;
  readonly status: ControlPlaneState;
  readonly server: string;
  readonly inside: Endpoint;
}

/** What waits until there is nothing else to do: members, etcd's authority, and a move to an own etcd. */
function planRest(
  observed: Observed,
  { planned, stages, isDone, status, server, inside }: Planned,
  now: number,
): Plan<Step, ControlPlaneState> {
  const isQuiet = planned.length === 0;
  const resize = isBetween(observed) ? [] : memberSteps(observed, isQuiet);
  const rotation = rotationOfEtcd(observed, stages.isComplete && isQuiet);
  const isComplete = stages.isComplete && !rotation.isRotating;
  const serving = { isSettled: isDone && isComplete && isQuiet, isEtcdDone: stages.isNextEtcdDone };
  const migration = planMigration(observed, serving, now);
  const until = isResizing(observed) ? membersAgainAt(observed, now) : rereadAt(observed, now);
  return {
    // What a stage of a move does is done alone: it is planned from what is recorded.
    steps: migration.steps.length > 0 ? migration.steps : [...planned, ...resize, ...rotation.steps],
    status: {
      ...withProblem(status, migration.problem),
      ready: stages.isServing && isJoinedAt(observed, server),
      inside: ownAddresses(observed, inside.port),
      // Until the new certificate is served, it does not have all of the names.
      ...(isComplete ? {} : { starting: true as const, names: [] }),
    },
    wait: {
      for: "certificates to be issued again, and changes of the cloud's configuration",
      until: Math.min(until, migration.until ?? Infinity),
    },
  };
}

/** The authority of the own etcd that it is to move to, where there is to be one now. */
function nextEtcdRoots({ nextEtcd }: Observed): typeof etcdRoot {
  return nextEtcd === undefined ? [] : etcdRoot;
}

function nextEtcdCredentials(observed: Observed): ReturnType<typeof credentialsOf> {
  return observed.nextEtcd === undefined ? [] : [ownEtcdCredentials(observed)];
}

/** What else keeps it from being as requested comes first. */
function withProblem(status: ControlPlaneState, problem: ControlPlaneProblem | undefined): ControlPlaneState {
  if (problem === undefined || status.problem !== undefined) return status;
  return { ...status, problem, message: `${problem.message} (${problem.code})` };
}

/** Of an etcd of its own, when every program runs with the present stage. */
function rotationOfEtcd(
  observed: Observed,
  isSettled: boolean,
): { readonly steps: readonly Step[]; readonly isRotating: boolean } {
  if (isPooled(observed.spec) || isBetween(observed)) return { steps: [], isRotating: false };
  const { spec, live } = observed;
  return etcdAuthoritySteps(live, spec.rotationStage, isSettled);
}

/** What it waits for. */
function problemIn(observed: Observed, { isEtcdDone, isComplete, waitsFor }: Stages, now: number): ControlPlaneProblem {
  const found = podProblem(observed.pods);
  if (found !== undefined) return found;
  if (isEtcdDone && !isRestored(observed)) return restoring;
  const unanswered = membershipProblem(observed, now);
  if (unanswered !== undefined) return unanswered;
  if (isResizing(observed) && waitsFor !== "kube-apiserver") return rolling("the members of etcd to change one by one");
  return rolling(isComplete ? "cluster-info to have the new roots" : waitsFor);
}

const creating: ControlPlaneProblem = {
  code: "CONTROL_PLANE_STARTING",
  message: "keys and certificates are being created",
  actor: "none",
};

function rolling(component: string): ControlPlaneProblem {
  return { code: "CONTROL_PLANE_STARTING", message: `waiting for ${component}`, actor: "none" };
}

/** No object that is watched changes when one of these is over: how often each is checked again. */
const againAfter: Readonly<Record<string, number>> = {
  // A ceiling of a namespace is free again when another control plane is gone.
  PODS_CEILING_EXCEEDED: REREAD,
  PODS_POOL_FULL: REREAD,
  PODS_MEMBERS_INVALID: MEMBERS_REPAIRED,
};

function waitFor({ message, code }: ControlPlaneProblem, now: number): { for: string; until?: number } {
  const after = againAfter[code];
  return { for: message, ...(after === undefined ? {} : { until: now + after }) };
}

/** The longer nothing changed, the later. */
function membersAgainAt({ membersSince = Infinity }: Observed, now: number): number {
  const [least, most] = MEMBERS_AGAIN;
  return now + Math.min(most, Math.max(least, (now - membersSince) / 4));
}

function withoutEndpoint(service: Service | undefined): ControlPlaneProblem {
  const [ingress] = service?.status?.loadBalancer?.ingress ?? [];
  if (ingress?.hostname !== undefined && ingress.ip === undefined) {
    const message = `the load balancer has the name ${ingress.hostname} and no address, but kube-apiserver can advertise an address only: set spec.endpoint.host to an address that forwards to it`;
    return { code: "PODS_ENDPOINT_MISSING", message, actor: "user" };
  }
  const message = "waiting for the service cluster to assign an address to Service kube-apiserver";
  return { code: "PODS_ENDPOINT_PENDING", message, actor: "operator" };
}

function annotationsOf(observed: Observed): Record<string, string> {
  const joined = joinedAt(observed);
  return {
    [datastoreAnnotation]: datastoreWithData(observed) ?? (isPooled(observed.spec) ? "Pooled" : "Own"),
    ...(isBetween(observed) ? { [migratingAnnotation]: "true" } : {}),
    [grantedAnnotation]: grantOf(observed),
    ...retainedBudget(observed),
    ...(observed.poolNamespace === undefined ? {} : { [poolAnnotation]: observed.poolNamespace }),
    ...(isPooled(observed.spec) || isBetween(observed) ? { [budgetAnnotation]: String(budgetOf(observed.spec)) } : {}),
    ...(joined === undefined ? {} : { [joinedAnnotation]: joined }),
    ...(observed.spec.restore !== undefined && isRestored(observed) ? { [restoredAnnotation]: "true" } : {}),
  };
}

/** Until the old data is deleted. */
function retainedBudget({ namespace, live, spec }: Observed): Record<string, string> {
  if (migrationOf({ namespace, live })?.stage !== "Retained") return {};
  const budget = namespace?.metadata.annotations?.[budgetAnnotation] ?? String(budgetOf(spec));
  return { [retainedAnnotation]: "true", [budgetAnnotation]: budget };
}

/** A user of the shared etcd, which may touch its own prefix only. Made by each process once. */
function poolSteps({ spec, pool, hasEtcdUser, namespaceName }: Observed): {
  steps: Step[];
  problem?: ControlPlaneProblem;
} {
  if (!isPooled(spec)) return { steps: [] };
  if (pool?.access === undefined || !pool.ready) {
    const message = "waiting for the etcd that control planes share";
    return { steps: [], problem: pool?.problem ?? { code: "CONTROL_PLANE_STARTING", message, actor: "none" } };
  }
  if (hasEtcdUser) return { steps: [] };
  const sealed = pool.storage?.[namespaceName]?.stage === "Sealed";
  const user = { name: namespaceName, prefix: prefixOf(namespaceName), sealed };
  return { steps: [{ type: "ensure-etcd-user", access: pool.access, user }] };
}

/** Steps after which the state must be read again. */
function firstOf(steps: readonly Step[]): Step[] {
  const [first] = steps;
  return steps.filter(({ type }) => type === first?.type);
}

/** What we applied earlier and is not wanted any more. Objects without our stamp are not ours. */
function prune({ live }: Observed, kept: ReadonlySet<string>, untouched: readonly string[]): Step[] {
  return [...live].flatMap(([id, object]): Step[] => {
    const { annotations = {}, labels = {}, deletionTimestamp } = object.metadata;
    if (untouched.includes(labels[componentLabel] ?? "")) return [];
    const isOurs = annotations[appliedAnnotation] !== undefined || annotations[inputsAnnotation] !== undefined;
    return kept.has(id) || !isOurs || deletionTimestamp !== undefined ? [] : [{ type: "delete", id, object }];
  });
}

function rereadAt(observed: Observed, now: number): number {
  const { live, spec } = observed;
  const renewals = [...live.values()].flatMap(({ metadata }) => {
    const at = Number(metadata.annotations?.[renewAtAnnotation]);
    return Number.isFinite(at) && at > 0 ? [at] : [];
  });
  return Math.min(
    ...renewals,
    ...(spec.pods?.cloudConfigSecret === undefined ? [] : [now + REREAD]),
    restoreFailureOf(observed, now)?.until ?? Infinity,
    now + 24 * 3600_000,
  );
}
