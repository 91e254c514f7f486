import { connect } from "node:tls";
import { CausewayError, hasCode, issueCertificate, messageOf, type Clock } from "@causeway/foundation";
import {
  loadKubeconfig,
  Secret,
  secretText,
  type ClusterConfig,
  type KubernetesClient,
  type ObjectKey,
} from "@causeway/kubernetes";
import type { ControlPlaneAccess, EtcdMember } from "../objects/access.ts";
import { certificateSecretName, pairIn } from "../objects/certificates.ts";
import { callEtcd, type EtcdCredentials } from "./etcd-gateway.ts";
import { forwardPort } from "./port-forward.ts";

const etcdPort = 2379;
const apiPort = 6443;
/** Of the client certificate for etcd: one is issued for each inspection. */
const clientLifetime = 3600_000;
const expiryMemory = 3600_000;

interface Place {
  readonly config: ClusterConfig;
  readonly credentials: EtcdCredentials;
}

interface Status {
  readonly node: string;
  readonly leader?: string;
  readonly problem?: string;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reaches etcd and the API servers on control-plane machines by port-forwarding through the workload cluster's API
 * server, as a client that the cluster's etcd authority has issued a certificate for.
 */
export function createForwardedAccess({
  client,
  clock,
}: {
  readonly client: KubernetesClient;
  readonly clock: Clock;
}): ControlPlaneAccess {
  const expiries = new Map<string, { readonly at: number; readonly expiry: number }>();
  const place = (key: ObjectKey, signal: AbortSignal) => placeOf(client, { key, now: clock.now() }, signal);
  return {
    async members({ cluster, nodes }, signal) {
      return membersOf(await place(cluster, signal), nodes, signal);
    },
    async removeMember({ cluster, nodes }, { id, name }, signal) {
      const others = nodes.filter((node) => node !== name);
      try {
        await onFirst(
          await place(cluster, signal),
          others,
          { path: "/v3/cluster/member/remove", body: { ID: id } },
          signal,
        );
      } catch (error) {
        if (!hasCode(error, "CAPI_ETCD_REFUSED") || !messageOf(error).includes("member not found")) throw error;
      }
    },
    async moveLeader({ cluster, nodes }, to, signal) {
      const there = await place(cluster, signal);
      const members = await membersOf(there, nodes, signal);
      const leader = members.find(({ isLeader }) => isLeader);
      if (!leader || leader.id === to.id) return;
      const body = { targetID: to.id };
      await call(there, leader.name, { path: "/v3/maintenance/transfer-leadership", body }, signal);
    },
    async certificateExpiry({ cluster }, node, signal) {
      const key = `${cluster.namespace}/${cluster.name}/${node}`;
      const known = expiries.get(key);
      const now = clock.now();
      if (known && now - known.at < expiryMemory) return known.expiry;
      for (const [other, { at }] of expiries) if (now - at > 2 * expiryMemory) expiries.delete(other);
      const { config } = await place(cluster, signal);
      const expiry = await expiryOf(config, node, signal);
      if (expiry !== undefined) expiries.set(key, { at: now, expiry });
      return expiry;
    },
  };
}

async function placeOf(
  client: KubernetesClient,
  { key, now }: { readonly key: ObjectKey; readonly now: number },
  signal: AbortSignal,
): Promise<Place> {
  const { namespace, name } = key;
  const kubeconfig = secretText(
    await client.find(Secret, { namespace, name: `${name}-kubeconfig` }, { signal }),
    "value",
  );
  const authority = pairIn(
    await client.find(Secret, { namespace, name: certificateSecretName(name, "etcd") }, { signal }),
  );
  if (!kubeconfig || !authority) {
    throw new CausewayError(
      "CAPI_ETCD_UNREACHABLE",
      `Secrets ${name}-kubeconfig and ${name}-etcd are needed to reach etcd`,
    );
  }
  const subject = { commonName: "causeway-cluster-api", usages: ["client"] as const, lifetime: clientLifetime, now };
  const pair = await issueCertificate(authority, subject);
  return { config: loadKubeconfig({ text: kubeconfig }), credentials: { ...pair, authority: authority.certificate } };
}

async function membersOf(place: Place, nodes: readonly string[], signal: AbortSignal): Promise<EtcdMember[]> {
  const list = await onFirst(place, nodes, { path: "/v3/cluster/member/list", body: {} }, signal);
  const alarms = await onFirst(place, nodes, { path: "/v3/maintenance/alarm", body: { action: "GET" } }, signal);
  const states = await Promise.all(nodes.map((node) => statusOf(place, node, signal)));
  const leader = states.find((state) => state.leader !== undefined)?.leader;
  return listAt(list, "members").map((member) => {
    const id = textAt(member, "ID");
    const name = textAt(member, "name");
    const alarm = listAt(alarms, "alarms").find((one) => textAt(one, "memberID") === id);
    const state = states.find(({ node }) => node === name);
    const problem = alarm
      ? `etcd raised the alarm ${textAt(alarm, "alarm")}`
      : state
        ? state.problem
        : "its Node is not known";
    return {
      id,
      name,
      isLearner: member["isLearner"] === true,
      isLeader: id !== "" && id === leader,
      ...(problem === undefined ? {} : { problem }),
    };
  });
}

async function statusOf(place: Place, node: string, signal: AbortSignal): Promise<Status> {
  try {
    const status = await call(place, node, { path: "/v3/maintenance/status", body: {} }, signal);
    const leader = textAt(status, "leader");
    const [problem] = Array.isArray(status["errors"]) ? (status["errors"] as unknown[]).map(String) : [];
    return { node, ...(leader && leader !== "0" ? { leader } : {}), ...(problem === undefined ? {} : { problem }) };
  } catch (error) {
    if (signal.aborted) throw error;
    return { node, problem: messageOf(error) };
  }
}

interface Request {
  readonly path: string;
  readonly body: object;
}

/** The answer of the first member that responds. */
async function onFirst(place: Place, nodes: readonly string[], request: Request, signal: AbortSignal): Promise<Fields> {
  let failure: unknown = new CausewayError("CAPI_ETCD_UNREACHABLE", "no machine of the control plane has a Node");
  for (const node of nodes) {
    try {
      return await call(place, node, request, signal);
    } catch (error) {
      if (signal.aborted || hasCode(error, "CAPI_ETCD_REFUSED")) throw error;
      failure = error;
    }
  }
  throw failure;
}

async function call(
  { config, credentials }: Place,
  node: string,
  request: Request,
  signal: AbortSignal,
): Promise<Fields> {
  const target = { namespace: "kube-system", pod: `etcd-${node}`, port: etcdPort };
  const connection = await forwardPort(config, target, signal);
  try {
    return await callEtcd(connection, { ...request, credentials }, signal);
  } finally {
    connection.destroy();
  }
}

async function expiryOf(config: ClusterConfig, node: string, signal: AbortSignal): Promise<number | undefined> {
  const target = { namespace: "kube-system", pod: `kube-apiserver-${node}`, port: apiPort };
  const connection = await forwardPort(config, target, signal);
  try {
    return await new Promise((resolve, reject) => {
      const secure = connect({ socket: connection, servername: "kubernetes", ...(config.ca ? { ca: config.ca } : {}) });
      secure.on("error", reject);
      secure.once("close", () => resolve(undefined));
      secure.once("secureConnect", () => {
        const until = Date.parse(secure.getPeerCertificate().valid_to);
        secure.destroy();
        resolve(Number.isNaN(until) ? undefined : until);
      });
    });
  } finally {
    connection.destroy();
  }
}

function textAt(value: Fields, name: string): string {
  const found = value[name];
  return typeof found === "string" ? found : "";
}

function listAt(value: Fields, name: string): Fields[] {
  const found = value[name];
  return Array.isArray(found) ? found.filter((one): one is Fields => typeof one === "object" && one !== null) : [];
}
