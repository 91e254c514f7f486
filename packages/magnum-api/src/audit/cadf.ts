import { randomUUID } from "node:crypto";
import type { MagnumCluster } from "@causeway/api";
import type { Audited } from "../audit-event.ts";
import { clusterDetail } from "../resources/cluster-view.ts";

const TYPE = "service/magnum/cluster";
const ACCOUNT = "service/security/account/user";
/** What of a cluster is in an event. */
const [MOST_LABELS, LONGEST, MOST_NODES] = [64, 128, 100];
/** Names of labels whose values are secrets. */
const SECRET = /passw|secret|token/i;

/** A notification as oslo.messaging writes it, with a CADF event as Magnum's conductor emits it. */
export function notificationOf(audited: Audited, now: number, host: string): Readonly<Record<string, unknown>> {
  const { action, outcome, cluster, caller, refusedWith } = audited;
  const initiator = caller && { user_id: caller.userId, project_id: caller.projectId, domain_id: caller.domainId };
  const time = new Date(now).toISOString().replace("Z", "000");
  return {
    message_id: randomUUID(),
    publisher_id: `container-infra.${host}`,
    event_type: `magnum.cluster.${action}`,
    priority: outcome === "failure" ? "ERROR" : "INFO",
    timestamp: time.replace("T", " "),
    payload: {
      typeURI: "http://schemas.dmtf.org/cloud/audit/1.0/event",
      eventType: "activity",
      id: randomUUID(),
      eventTime: `${time}+0000`,
      action,
      outcome,
      initiator: { id: randomUUID(), typeURI: ACCOUNT, ...initiator },
      target: targetOf(cluster, refusedWith === undefined),
      observer: { id: randomUUID(), typeURI: TYPE },
      ...(refusedWith === undefined ? {} : { reason: { reasonType: "HTTP", reasonCode: String(refusedWith) } }),
    },
  };
}

const shown = [
  "status",
  "status_reason",
  "project_id",
  "created_at",
  "updated_at",
  "cluster_template_id",
  "keypair",
  "docker_volume_size",
  "master_flavor_id",
  "flavor_id",
  "stack_id",
  "health_status",
  "create_timeout",
  "api_address",
  "discovery_url",
  "node_addresses",
  "master_addresses",
  "node_count",
  "master_count",
] as const;

/** A user may send requests that are refused, and long labels, at will: neither may fill the file with its events. */
function targetOf(cluster: MagnumCluster | undefined, isWhole: boolean): Readonly<Record<string, unknown>> {
  if (cluster === undefined) return { id: randomUUID(), typeURI: TYPE };
  const { uuid, name, labels = {} } = cluster.spec;
  if (!isWhole) return { id: uuid, name, typeURI: TYPE };
  const detail = clusterDetail(cluster, { origin: "", minor: 1 });
  const safe = Object.entries(labels)
    .slice(0, MOST_LABELS)
    .map(([key, value]) => [key, SECRET.test(key) ? "***" : value.slice(0, LONGEST)]);
  const nodes = (detail["node_addresses"] as readonly string[]).slice(0, MOST_NODES);
  const fields = Object.fromEntries(shown.map((key) => [key, detail[key]]));
  const content = { ...fields, node_addresses: nodes, labels: Object.fromEntries(safe) };
  return { id: uuid, name, typeURI: TYPE, attachments: [{ typeURI: TYPE, content, name: "cluster_data" }] };
}
