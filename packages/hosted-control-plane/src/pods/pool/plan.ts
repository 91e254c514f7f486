import type { KubeObject, Pod, Plan, Secret, StatefulSet } from "@causeway/kubernetes";
import type { ControlPlaneProblem } from "../../runtime.ts";
import { imagesOf, servedMinors } from "../images.ts";
import { applySteps, initializedNamespace, namespaceSteps } from "../plan-objects.ts";
import { copyName, keyProblem, keySteps } from "../plan-keys.ts";
import { issueSteps, pairOf } from "../plan-credentials.ts";
import { etcdCredentials } from "../objects/credentials.ts";
import { etcdObjects, ETCD_CLIENT_PORT } from "../objects/etcd.ts";
import { poolPolicies } from "../objects/network.ts";
import type { AuthorityRotation } from "../../runtime.ts";
import { etcdAuthoritySteps, placeOf } from "../plan-etcd-authority.ts";
import { isRolledOut, podProblem, podsOf, workload } from "../rollout.ts";
import { sizes } from "../sizes.ts";
import { parseRecords, RECORDS_NAME } from "../storage/records.ts";
import { quotaOf } from "../storage/shares.ts";
import type { EtcdAccess } from "../../etcd/etcd-admin.ts";
import type { Credentials } from "../steps.ts";
import {
  digestOf,
  idAnnotation,
  ownerAnnotation,
  rotateAfterAnnotation,
  rotateWithoutAnnotation,
  rotationProgressAnnotation,
} from "../tenant.ts";
import type { Observed } from "./gather.ts";
import type { PoolState } from "./state.ts";
import type { Step } from "./steps.ts";

/** Whose namespace it is, in the place of a control plane's id. */
export const POOL_ID = "etcd";

/** One stage at a time: namespace and keys, certificates, the etcd, then its users. */
export function plan(observed: Observed, now: number): Plan<Step, PoolState> {
  const planned = planEtcd(observed, now);
  if (!observed.isOfAnother) return planned;
  // Every process makes sure that clients are users, before it makes one.
  return { ...planned, steps: planned.steps.filter(({ type }) => type === "enable-auth") };
}

function planEtcd(observed: Observed, now: number): Plan<Step, PoolState> {
  const refusal = refusalOf(observed);
  if (refusal !== undefined) return { steps: [], status: poolState(observed, refusal), wait: { for: refusal.message } };
  if (observed.isForeign === true) return planUse(observed);
  const { settings, namespaceName, live } = observed;
  const going = rotationSteps(observed, false, now);
  const progress = going.isRotating ? { [rotationProgressAnnotation]: progressText(going) } : {};
  const early = [
    ...namespaceSteps({ ...observed, id: POOL_ID, key: "Secret/etcd-root", annotations: progress }),
    ...keySteps(keysOf(observed), roots),
  ];
  const [first] = early;
  if (first !== undefined || !initializedNamespace(observed.namespace))
    return { steps: early.filter(({ type }) => type === first?.type), status: poolState(observed, starting) };
  // The number of members remains what it was at the beginning.
  const running = (live.get("StatefulSet/etcd") as StatefulSet | undefined)?.spec.replicas;
  const members = running ?? settings.pool?.members ?? 3;
  const authority = pairOf(live.get("Secret/etcd-ca") as Secret | undefined);
  const clusterDomain = settings.clusterDomain ?? "cluster.local";
  const certificates = issueSteps(
    observed,
    [etcdCredentials({ etcdAuthority: authority, namespace: namespaceName, clusterDomain, members })],
    now,
  );
  if (certificates.length > 0) return { steps: certificates, status: poolState(observed, starting) };
  const steps = applySteps(live, [...etcdOf(observed, members), ...poolPolicies(namespaceName, settings)]);
  const state = poolState(observed, undefined);
  const auth: Step[] =
    steps.length === 0 && state.access !== undefined && !observed.authEnabled
      ? [{ type: "enable-auth", access: state.access }]
      : [];
  const rotation = rotationSteps(observed, steps.length === 0 && auth.length === 0, now);
  return {
    steps: [...steps, ...auth, ...rotation.steps],
    status: rotation.isRotating
      ? { ...state, rotation: { stage: rotation.stage, waitsFor: rotation.waitsFor } }
      : state,
    wait: { for: "certificates to be issued again, or a rotation", until: now + (rotation.isRotating ? SOON : DAY) },
  };
}

/** Nothing of it is changed; before a user of it is made, every client is one. */
function planUse(observed: Observed): Plan<Step, PoolState> {
  const status = poolState(observed, undefined);
  const { access } = status;
  const isDue = access !== undefined && !observed.authEnabled;
  return { steps: isDue ? [{ type: "enable-auth", access }] : [], status };
}

const DAY = 24 * 3600_000;
/** Control planes are checked again after so long. */
const SOON = 5_000;

/** The rotation that the operator requested, to its end: no client but ours knows the authority. */
function wantedRotation({ namespace }: Observed, now: number): AuthorityRotation | undefined {
  const id = namespace?.metadata.annotations?.[rotateAfterAnnotation];
  const at = Date.parse(id ?? "");
  return id === undefined || Number.isNaN(at) || at > now ? undefined : { id, stage: "retire" };
}

/** The next stage, once the members and every control plane run with the present one. */
function rotationSteps(observed: Observed, isQuiet: boolean, now: number) {
  const { live, behind } = observed;
  const authorities = (live.get("Secret/etcd-ca") as Secret | undefined)?.data?.["ca.crt"] ?? "";
  const { stage } = placeOf(live.get(`Secret/${copyName("etcd-ca")}`) as Secret | undefined);
  const wanted = wantedRotation(observed, now);
  if (!etcdAuthoritySteps(live, wanted, false).isRotating) return { steps: [], isRotating: false, stage, waitsFor: [] };
  const without = observed.namespace?.metadata.annotations?.[rotateWithoutAnnotation]?.split(",") ?? [];
  const waitsFor = behind(authorities).filter((name) => !without.includes(name));
  const settled = isQuiet && isRolledOut(workload(live.get("StatefulSet/etcd"))) && waitsFor.length === 0;
  return { ...etcdAuthoritySteps(live, wanted, settled), stage, waitsFor };
}

/** Names in one annotation. */
const MOST_NAMES = 20;

/** For the operator, who reads it while the rotation continues. */
function progressText({ stage, waitsFor }: NonNullable<PoolState["rotation"]>): string {
  return JSON.stringify({ stage, waiting: waitsFor.length, waitsFor: waitsFor.slice(0, MOST_NAMES) });
}

const once = (name: string, entries: Credentials["entries"]): Credentials => ({
  name,
  entries,
  inputs: "once",
  once: true,
});
const roots: readonly Credentials[] = [
  once("etcd-ca", [{ type: "authority", file: "ca", commonName: "etcd-ca" }]),
  once("etcd-root", [{ type: "password", file: "password" }]),
];

const starting: ControlPlaneProblem = {
  code: "CONTROL_PLANE_STARTING",
  message: "waiting for the pooled etcd",
  actor: "none",
};

function refusalOf(observed: Observed): ControlPlaneProblem | undefined {
  const { namespace, namespaceName, settings, holdsData, live, isForeign = false } = observed;
  const problem = (code: string, message: string): ControlPlaneProblem => ({ code, message, actor: "operator" });
  if (namespace === undefined) {
    const message = `Namespace ${namespaceName} with the etcd of the control planes does not exist in the service cluster; restore it from a backup`;
    return holdsData ? problem("PODS_DATA_LOST", message) : undefined;
  }
  const { annotations = {}, deletionTimestamp } = namespace.metadata;
  const isWrong = !isForeign && annotations[ownerAnnotation] !== settings.owner;
  if (annotations[idAnnotation] !== POOL_ID || isWrong)
    return problem("PODS_NAMESPACE_FOREIGN", `Namespace ${namespaceName} of the service cluster belongs to another`);
  if (deletionTimestamp !== undefined)
    return problem(
      "PODS_NAMESPACE_DELETED",
      `Namespace ${namespaceName} with the etcd of the control planes is being deleted`,
    );
  return keyProblem(keysOf({ live, namespaceName, namespace }), roots);
}

function keysOf({ live, namespaceName, namespace }: Pick<Observed, "live" | "namespaceName" | "namespace">) {
  return { live, namespaceName, hasData: initializedNamespace(namespace) || live.has("StatefulSet/etcd") };
}

/** Of the newest version in the table. */
function etcdOf({ settings, namespaceName, live }: Observed, members: number): KubeObject[] {
  const version = `${servedMinors(settings).at(-1) ?? ""}.0`;
  const images = imagesOf(version, settings);
  if (images === undefined) return [];
  const { storage, storageClassName } = settings.pool ?? {};
  return etcdObjects({
    namespace: namespaceName,
    version,
    images,
    size: sizes.Large,
    datastore: {
      members,
      ...(storage === undefined ? {} : { storage }),
      ...(storageClassName === undefined ? {} : { storageClassName }),
    },
    running: true,
    shared: true,
    quotaBytes: quotaOf(settings),
    credentials: digestOf((live.get("Secret/etcd") as Secret | undefined)?.data ?? null),
  });
}

function poolState(observed: Observed, problem: ControlPlaneProblem | undefined): PoolState {
  const { namespaceName, live, pods, authEnabled, settings } = observed;
  const etcd = live.get("StatefulSet/etcd") as StatefulSet | undefined;
  const members = etcd?.spec.replicas ?? settings.pool?.members ?? 3;
  const addresses = podsOf(pods, "etcd").flatMap(({ status }) =>
    status?.podIP !== undefined && status.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True")
      ? [status.podIP]
      : [],
  );
  const password = Buffer.from(
    (live.get("Secret/etcd-root") as Secret | undefined)?.data?.["password"] ?? "",
    "base64",
  ).toString();
  const hasQuorum = addresses.length > members / 2;
  const root = live.get("Secret/etcd-ca") as Secret | undefined;
  const access: EtcdAccess = {
    addresses,
    port: ETCD_CLIENT_PORT,
    serverName: `etcd.${namespaceName}.svc`,
    authority: pairOf(root),
    password,
  };
  const ready = problem === undefined && hasQuorum && authEnabled;
  const found = problem ?? (ready ? undefined : (podProblem(pods) ?? starting));
  return {
    ready,
    namespaceName,
    servers: Array.from(
      { length: members },
      (_, index) => `https://etcd-${index}.etcd.${namespaceName}.svc:${ETCD_CLIENT_PORT}`,
    ),
    leaders: leadersOf(pods, etcd),
    ...(root === undefined ? {} : { authority: pairOf(root) }),
    ...(hasQuorum ? { access } : {}),
    storage: Object.fromEntries(parseRecords(live.get(`ConfigMap/${RECORDS_NAME}`))),
    ...(found === undefined ? {} : { problem: found }),
  };
}

/**
 * A StatefulSet restarts its pods from the last to the first. So the first one leads, until another one was restarted:
 * no election is needed, whatever restarts them.
 */
function leadersOf(pods: readonly Pod[], etcd: StatefulSet | undefined): string[] {
  const { updateRevision, currentRevision } = etcd?.status ?? {};
  const isRolling = updateRevision !== undefined && updateRevision !== currentRevision;
  return podsOf(pods, "etcd")
    .flatMap(({ metadata: { name, labels = {}, deletionTimestamp }, status }) => {
      const isReady = status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;
      if (!isReady || status?.podIP === undefined || deletionTimestamp !== undefined) return [];
      const isRestarted = isRolling && labels["controller-revision-hash"] === updateRevision;
      return [{ host: status.podIP, ordinal: Number(name.slice(name.lastIndexOf("-") + 1)), isRestarted }];
    })
    .toSorted((a, b) => Number(b.isRestarted) - Number(a.isRestarted) || a.ordinal - b.ordinal)
    .map(({ host }) => host);
}
