import type { KeyPair } from "@causeway/foundation";
import type { Secret } from "@causeway/kubernetes";
import type { Observed } from "./observed.ts";
import { etcdCredentials, programCredentials } from "./objects/credentials.ts";
import { isPooled } from "./options.ts";
import type { Endpoint } from "./observed.ts";
import type { Credentials, Entry, Step } from "./steps.ts";
import { inputsAnnotation, renewAtAnnotation } from "./tenant.ts";

/** The Secrets whose certificates were issued from something else, or are at half their life. */
export function issueSteps({ live }: Pick<Observed, "live">, all: readonly Credentials[], now: number): Step[] {
  return all.flatMap((credentials): Step[] => {
    const secret = live.get(`Secret/${credentials.name}`) as Secret | undefined;
    const id = `Secret/${credentials.name}`;
    if (secret === undefined) return [{ type: "issue", id, credentials }];
    if (credentials.once || isCurrent(secret, credentials, now)) return [];
    const { resourceVersion } = secret.metadata;
    return [
      { type: "issue", id, credentials, ...(resourceVersion === undefined ? {} : { replaces: resourceVersion }) },
    ];
  });
}

function isCurrent({ metadata, data }: Secret, { inputs, entries }: Credentials, now: number): boolean {
  const { annotations = {} } = metadata;
  return (
    annotations[inputsAnnotation] === inputs &&
    Number(annotations[renewAtAnnotation]) > now &&
    entries.flatMap(fileNames).every((file) => data?.[file] !== undefined)
  );
}

/** The keys of a Secret that the entry is. */
export function fileNames({ type, file }: Entry): string[] {
  return type === "certificate" || type === "authority" ? [`${file}.crt`, `${file}.key`] : [file];
}

/** The certificate has the names of all members that there may be, so that another number of them changes none. */
const MOST_MEMBERS = 3;

/** Of the programs, as the control plane needs them now. */
export function credentialsOf(observed: Observed, endpoint: Endpoint): Credentials[] {
  const { spec, settings, namespaceName, cloudConfig } = observed;
  return programCredentials({
    spec,
    namespace: namespaceName,
    clusterDomain: settings.clusterDomain ?? "cluster.local",
    endpoint,
    etcdAuthority: rootOfEtcd(observed),
    members: MOST_MEMBERS,
    cloudConfig,
    tunnel: settings.tunnel,
    auditWebhook: settings.audit?.webhook,
  });
}

/** Of the etcd that a control plane in the shared one is to move to. */
export function ownEtcdCredentials({ live, settings, namespaceName }: Observed): Credentials {
  return etcdCredentials({
    etcdAuthority: pairOf(live.get("Secret/etcd-ca") as Secret | undefined),
    namespace: namespaceName,
    clusterDomain: settings.clusterDomain ?? "cluster.local",
    members: MOST_MEMBERS,
  });
}

function rootOfEtcd({ spec, pool, live }: Observed): KeyPair {
  const own = pairOf(live.get("Secret/etcd-ca") as Secret | undefined);
  return isPooled(spec) ? (pool?.authority ?? own) : own;
}

/** The authority in a Secret. */
export function pairOf(secret: Secret | undefined): KeyPair {
  const file = (name: string) => Buffer.from(secret?.data?.[name] ?? "", "base64").toString("utf8");
  return { certificate: file("ca.crt"), key: file("ca.key") };
}
