import { compareVersions } from "@causeway/kubernetes";
import { CausewayError, parseCidr } from "@causeway/foundation";
import { auditSinkProblem } from "../audit-sink.ts";
import { flagArgs } from "../flags.ts";
import { issuersProblem, versionProblem } from "../issuers.ts";
import type { ControlPlaneProblem } from "../runtime.ts";
import type { Observed } from "./observed.ts";
import { gatewayLabel, isBehindGateway } from "./gateway.ts";
import { minorNumber } from "../versions.ts";
import { imagesOf, servedMinors } from "./images.ts";
import { templateVersion, workload } from "./rollout.ts";
import { mebibytes } from "./storage/records.ts";
import { shareProblem } from "./storage/shares.ts";
import { isPooled } from "./options.ts";
import { ceilingProblem } from "./ceilings.ts";
import { rootCredentials } from "./objects/credentials.ts";
import { keyProblem } from "./plan-keys.ts";
import { membersProblem } from "./plan-members.ts";
import { initializedNamespace } from "./plan-objects.ts";
import { datastoreWithData, isBetween, migrationOf } from "./migration/served.ts";
import { idAnnotation, ownerAnnotation } from "./tenant.ts";

type Rule = (observed: Observed) => ControlPlaneProblem | undefined;

const user = (code: string, message: string): ControlPlaneProblem => ({ code, message, actor: "user" });
const operator = (code: string, message: string): ControlPlaneProblem => ({ code, message, actor: "operator" });

/**
 * What is not done at all, and why. While one of these holds, nothing in the service cluster is changed, but for
 * networks of issuers and sinks that the operator does not permit any more.
 */
export function refusalOf(observed: Observed): ControlPlaneProblem | undefined {
  for (const rule of rules) {
    const found = rule(observed);
    if (found !== undefined) return found;
  }
  return undefined;
}

const foreignNamespace: Rule = ({ namespace, namespaceName, spec, settings }) => {
  if (namespace === undefined) return undefined;
  const { annotations = {} } = namespace.metadata;
  if (annotations[idAnnotation] === spec.id && annotations[ownerAnnotation] === settings.owner) return undefined;
  const whose = `its annotation ${idAnnotation} does not name ${spec.id} of this management cluster`;
  return operator(
    "PODS_NAMESPACE_FOREIGN",
    `Namespace ${namespaceName} of the service cluster belongs to another: ${whose}`,
  );
};

const terminates: Rule = ({ namespace, namespaceName }) =>
  namespace?.metadata.deletionTimestamp === undefined
    ? undefined
    : operator(
        "PODS_NAMESPACE_DELETED",
        `Namespace ${namespaceName} of the service cluster is being deleted, with the control plane's data`,
      );

/** An empty control plane in place of a full one would have every controller delete what it does not find. */
const dataLost: Rule = ({ namespace, namespaceName, spec }) =>
  namespace !== undefined || spec.initialized === undefined
    ? undefined
    : operator(
        "PODS_DATA_LOST",
        `Namespace ${namespaceName} with the control plane's data does not exist in the service cluster; restore it from a backup, or delete the control plane and create it again`,
      );

const keys: Rule = (observed) => keyProblem(keysOf(observed), rootCredentials(observed.spec));

/** What keyProblem judges: whether keys are missing that data depends on. */
export function keysOf({ live, namespaceName, namespace }: Observed): Parameters<typeof keyProblem>[0] {
  return { live, namespaceName, hasData: initializedNamespace(namespace) || live.has("StatefulSet/etcd") };
}

const version: Rule = ({ spec, settings, live }) => {
  const wanted = spec.version;
  if (imagesOf(wanted, settings) === undefined) {
    const served = servedMinors(settings).map((minor) => `${minor}.x`);
    return user(
      "PODS_VERSION_NOT_SERVED",
      `Kubernetes ${wanted} is not in the table of images; served: ${served.join(", ")}`,
    );
  }
  const running = templateVersion(workload(live.get("Deployment/kube-apiserver")));
  if (running === undefined) return undefined;
  if (compareVersions(wanted, running) < 0) {
    const why = "its objects may be stored in forms that the older version does not know";
    return user("PODS_DOWNGRADE", `the control plane runs ${running} and cannot be downgraded to ${wanted}: ${why}`);
  }
  if (minorNumber(wanted) <= minorNumber(running) + 1) return undefined;
  return user(
    "PODS_MINOR_SKIPPED",
    `the control plane runs ${running} and is upgraded by one minor version at a time: ${wanted} is too far`,
  );
};

const unsupported: Rule = ({ spec: { authentication, join } }) => {
  if (join !== undefined) return user("PODS_UNSUPPORTED", "runtime Pods does not support spec.datastore");
  if (authentication.external === undefined) return undefined;
  return user("PODS_UNSUPPORTED", `runtime Pods does not support spec.authentication.${authentication.external.type}`);
};

const issuers: Rule = ({ spec, settings }) => {
  const { jwt } = spec.authentication;
  const old = versionProblem(jwt, spec.version);
  if (old !== undefined) return user("PODS_UNSUPPORTED", old);
  return issuersProblem(jwt, settings.issuerNetworks);
};

/** kube-apiserver has one webhook of audit events. */
const audit: Rule = ({ spec, settings }) => {
  if (spec.audit !== undefined && settings.audit?.webhook !== undefined)
    return operator(
      "AUDIT_SINK_NOT_PERMITTED",
      "the operator's own webhook (--audit-webhook-url) receives the audit events of all control planes, and kube-apiserver sends them to one: spec.audit cannot name another",
    );
  return auditSinkProblem(spec.audit, { networks: settings.auditNetworks });
};

/** Before anything is written: what the schema did not refuse must not end the pass that writes other objects. */
const flags: Rule = ({ spec }) => {
  try {
    flagArgs("apiServer", spec.flags);
    flagArgs("controllerManager", spec.flags);
    return undefined;
  } catch (error) {
    if (error instanceof CausewayError) return user(error.code, `${error.message}. ${error.hint ?? ""}`.trim());
    throw error;
  }
};

/** A load balancer that cannot read its access list might be open to all. */
const accessList: Rule = ({ spec }) => {
  const { allowedCidrs, pods } = spec;
  if (allowedCidrs === undefined) return undefined;
  if ((pods?.exposure ?? "LoadBalancer") !== "LoadBalancer")
    return user("PODS_ACCESS_LIST_INVALID", "spec.endpoint.allowedCIDRs needs spec.pods.exposure LoadBalancer");
  const wrong = allowedCidrs.find((each) => parseCidr(each) === undefined);
  if (allowedCidrs.length > 0 && wrong === undefined) return undefined;
  return user(
    "PODS_ACCESS_LIST_INVALID",
    wrong === undefined
      ? "spec.endpoint.allowedCIDRs is empty: no client would reach the API"
      : `spec.endpoint.allowedCIDRs has ${wrong.slice(0, 64)}, which is not a network such as 192.0.2.0/24`,
  );
};

const nodePort: Rule = ({ spec }) =>
  spec.pods?.exposure === "NodePort" && spec.endpoint.host === ""
    ? user(
        "PODS_ENDPOINT_MISSING",
        "exposure NodePort needs spec.endpoint.host: an address of the service cluster's nodes",
      )
    : undefined;

/** A name below the label of another control plane would be that one's. */
const gateway: Rule = ({ spec, settings, namespaceName }) => {
  if (!isBehindGateway(spec)) return undefined;
  if (settings.gateway === undefined)
    return operator("PODS_UNSUPPORTED", "no gateway is configured: start with --gateway-domain");
  const { host, port } = spec.endpoint;
  const label = gatewayLabel(namespaceName);
  if (host !== "" && !host.startsWith(`${label}.`))
    return user("PODS_ENDPOINT_REFUSED", `exposure Gateway chooses spec.endpoint.host; it begins with "${label}."`);
  if (port === 0 || port === settings.gateway.port) return undefined;
  return user(
    "PODS_ENDPOINT_REFUSED",
    `the gateway's port is ${settings.gateway.port}, not ${port} of spec.endpoint.port`,
  );
};

const members: Rule = (observed) => {
  const wanted = observed.spec.pods?.datastore?.members ?? 1;
  if (wanted === 2)
    return user("PODS_MEMBERS_INVALID", "spec.pods.datastore.members is 1 or 3: two members cannot lose any");
  return membersProblem(observed);
};

/** Only from the shared etcd to an own one, where the operator permits it: there is no way back. */
const datastore: Rule = (observed) => {
  const { requested, settings } = observed;
  const [has, wanted] = [datastoreWithData(observed), isPooled(requested) ? "Pooled" : "Own"];
  if (has === undefined || has === wanted) return undefined;
  if (has === "Own")
    return user(
      "PODS_DATASTORE_CHANGED",
      "its own etcd has the control plane's data; spec.pods.datastore.type cannot change it to Pooled",
    );
  const isMoving = isBetween(observed);
  // What has volumes is not stopped in the midst; until then another attempt, or another request, is checked, too.
  if (isMoving && (migrationOf(observed)?.stage !== "Starting" || observed.live.has("StatefulSet/etcd")))
    return undefined;
  if (!isMoving && settings.datastoreMoves !== true)
    return user(
      "PODS_DATASTORE_CHANGED",
      "the shared etcd has the control plane's data; spec.pods.datastore.type cannot change it to Own: the operator does not permit moves (--datastore-moves)",
    );
  if (settings.causewayImage === undefined)
    return operator(
      "PODS_UNSUPPORTED",
      "no image that prepares the members of an own etcd is configured: start with --causeway-image",
    );
  const move = { ...observed, spec: requested };
  return members(move) ?? ceilingProblem(move) ?? quotaProblem(observed);
};

/** Its own etcd would be full before all data is copied. */
const quotaProblem: Rule = ({ pool, namespaceName, requested }) => {
  const { bytes = 0 } = pool?.storage?.[namespaceName] ?? {};
  const { bytes: quota } = requested.limits;
  if (bytes <= quota / 2) return undefined;
  const message = `the control plane stores ${mebibytes(bytes)}, and spec.limits.bytes gives its own etcd a quota of ${mebibytes(quota)}, which is less than twice as much: request more`;
  return user("PODS_STORAGE_INVALID", message);
};

const cloud: Rule = ({ spec, settings, cloudConfig }) => {
  const name = spec.pods?.cloudConfigSecret;
  if (name === undefined) return undefined;
  if (settings.causewayImage === undefined)
    return operator(
      "PODS_UNSUPPORTED",
      "no image for cloud controller managers is configured: start with --causeway-image",
    );
  if (cloudConfig !== undefined) return undefined;
  return user(
    "PODS_CLOUD_CONFIG_MISSING",
    `Secret ${name} with the key cloud.conf does not exist in the namespace of the control plane`,
  );
};

const rules: readonly Rule[] = [
  foreignNamespace,
  terminates,
  dataLost,
  keys,
  version,
  unsupported,
  issuers,
  audit,
  flags,
  accessList,
  nodePort,
  gateway,
  datastore,
  members,
  cloud,
  ceilingProblem,
  shareProblem,
];
