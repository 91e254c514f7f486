import { randomBytes } from "node:crypto";
import { CausewayError, createAuthority, issueCertificate, type Clock } from "@causeway/foundation";
import {
  isAlreadyExists,
  isConflict,
  Namespace,
  renderKubeconfig,
  Secret,
  secretData,
  type KubeObject,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { encryptionConfig } from "../at-rest.ts";
import { perform as acknowledge } from "./hand-over/perform.ts";
import { namedMeta } from "./objects/meta.ts";
import type { Backups } from "../backup/backups.ts";
import { secretNamed } from "../backup/secrets.ts";
import { notOffered } from "../backup/store.ts";
import type { Observed } from "./observed.ts";
import { isMigrationStep, performMigration, type Migrations } from "./migration/perform-migration.ts";
import { isMemberStep, type MemberStep } from "./plan-members.ts";
import type { EtcdAdmin } from "../etcd/etcd-admin.ts";
import { createEtcdMembers, type EtcdMembers } from "./pool/membership.ts";
import { followSecret, rotateEtcdAuthority } from "./rotate-etcd.ts";
import type { Credentials, Entry, Step } from "./steps.ts";
import { inputsAnnotation, renewAtAnnotation } from "./tenant.ts";
import { typeOf } from "./types.ts";

/** What the steps need: the service cluster, etcd, and backups. */
export interface PerformContext {
  readonly client: KubernetesClient;
  readonly clock: Clock;
  readonly etcd: EtcdAdmin;
  /** Default: by etcd's HTTP API. */
  readonly members?: EtcdMembers;
  /** Undefined: nothing is restored here. */
  readonly backups?: Backups;
  /** Default: nothing is remembered. */
  readonly migrations?: Migrations;
  /** Creates in the tenant what machines need to join. */
  readonly join: (step: Extract<Step, { type: "create-join-objects" }>, signal: AbortSignal) => Promise<void>;
  /** A step was performed that leaves nothing to see in the service cluster. */
  readonly done: (step: Step) => void;
}

/** The namespace that steps are performed in. */
type PerformOn = Pick<Observed, "namespace" | "namespaceName">;

/** What this runtime calls itself in managedFields of the service cluster. */
export const fieldManager = "causeway-hosted-control-plane";

const YEAR = 365 * 24 * 3600_000;

/** "deferred": another leader wrote the object first, and the next plan sees it. */
export async function perform(
  using: PerformContext,
  step: Step,
  observed: PerformOn,
  signal: AbortSignal,
): Promise<void | "deferred"> {
  if (isMemberStep(step)) return changeMembers(using.members ?? createEtcdMembers(using), step, signal);
  if (isMigrationStep(step)) {
    const migrations = using.migrations ?? { copies: new Map(), remember: () => {} };
    return performMigration({ ...using, migrations, fieldManager }, step, observed, signal);
  }
  const { client } = using;
  switch (step.type) {
    case "acknowledge":
      return acknowledge(client, step, signal);
    case "apply-namespace":
      return applyNamespace(client, step.object, observed.namespace, signal);
    case "issue":
      return issue(using, step, observed, signal);
    case "copy":
      return copy(using, step, observed, signal);
    case "follow":
      return followSecret(client, step, signal);
    case "rotate-etcd-authority":
      return rotateEtcdAuthority({ client, now: using.clock.now() }, step, signal);
    case "apply":
      await client.apply(typeOf(step.object), step.object, { fieldManager, signal });
      return undefined;
    case "delete": {
      const { namespace = "", name, uid } = step.object.metadata;
      const preconditions = uid === undefined ? {} : { preconditions: { uid } };
      await client.delete(typeOf(step.object), { namespace, name }, { ...preconditions, signal });
      return undefined;
    }
    case "enable-auth":
      await using.etcd.enableAuth(step.access, signal);
      using.done(step);
      return undefined;
    case "ensure-etcd-user":
      await using.etcd.ensureUser(step.access, step.user, signal);
      using.done(step);
      return undefined;
    case "restore":
      if (using.backups === undefined) throw notOffered();
      await using.backups.restore(step.from, step.keyspace, signal);
      using.done(step);
      return undefined;
    case "create-join-objects":
      await using.join(step, signal);
      using.done(step);
      return undefined;
  }
}

/** Created, not applied: an apply would take over a namespace that another one made in the meantime. */
async function applyNamespace(
  client: KubernetesClient,
  object: KubeObject,
  there: Namespace | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (there === undefined) await client.create(Namespace, object as Namespace, { signal, fieldManager });
  else await client.apply(Namespace, withIdentity(object, there), { fieldManager, signal });
}

/** What is not done yet is seen in the etcd's own list, and tried again. */
async function changeMembers(members: EtcdMembers, step: MemberStep, signal: AbortSignal): Promise<void | "deferred"> {
  if (step.type === "add-etcd-member") await members.add(step.access, step.peerUrl, signal);
  if (step.type === "move-etcd-leader") await members.moveLeader(step.access, step.to, signal);
  if (step.type === "remove-etcd-member") await members.remove(step.access, step.id, signal);
  if (step.type !== "promote-etcd-member") return undefined;
  return (await members.promote(step.access, step.id, signal)) ? undefined : "deferred";
}

/** Refused by the server where another leader deleted the namespace in the meantime: an apply would make it again. */
function withIdentity(object: KubeObject, { metadata: { uid } }: Namespace): KubeObject {
  return uid === undefined ? object : { ...object, metadata: { ...object.metadata, uid } };
}

/** Another leader that was faster wins: its certificates are as good. */
async function issue(
  { client, clock, backups }: PerformContext,
  { credentials, replaces }: Extract<Step, { type: "issue" }>,
  { namespaceName }: PerformOn,
  signal: AbortSignal,
): Promise<void | "deferred"> {
  const now = clock.now();
  const meta = namedMeta(namespaceName, credentials.name, credentials.name);
  const renewal = credentials.once ? {} : { [renewAtAnnotation]: String(now + YEAR / 2) };
  const secret: Secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { ...meta, annotations: { [inputsAnnotation]: credentials.inputs, ...renewal } },
    type: "Opaque",
    data: await contentOf(credentials, { now, backups, signal }),
  };
  try {
    if (replaces === undefined) await client.create(Secret, secret, { fieldManager, signal });
    else {
      const metadata = { ...secret.metadata, resourceVersion: replaces };
      await client.update(Secret, { ...secret, metadata }, { fieldManager, signal });
    }
    return undefined;
  } catch (error) {
    if (isConflict(error)) return "deferred";
    if (!isAlreadyExists(error)) throw error;
    return refuseUnlabelled(client, meta, signal);
  }
}

/**
 * Never in the place of an existing one: another leader's is as good, and another content is a problem that the plan
 * reports.
 */
async function copy(
  { client }: PerformContext,
  { name, data, annotations }: Extract<Step, { type: "copy" }>,
  { namespaceName }: PerformOn,
  signal: AbortSignal,
): Promise<void | "deferred"> {
  const meta = namedMeta(namespaceName, name, name);
  const metadata = { ...meta, annotations: { ...annotations, [inputsAnnotation]: "once" } };
  try {
    const secret = { apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data: { ...data } } as Secret;
    await client.create(Secret, secret, { fieldManager, signal });
    return undefined;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return refuseUnlabelled(client, meta, signal);
  }
}

/** A Secret without our label is not watched, and would be created again and again. */
async function refuseUnlabelled(
  client: KubernetesClient,
  { namespace = "", name, labels = {} }: Secret["metadata"],
  signal: AbortSignal,
): Promise<"deferred"> {
  const found = await client.find(Secret, { namespace, name }, { signal });
  const missing = Object.entries(labels).filter(([label, value]) => found?.metadata.labels?.[label] !== value);
  if (found === undefined || missing.length === 0) return "deferred";
  throw new CausewayError(
    "PODS_SECRET_UNUSABLE",
    `Secret ${namespace}/${name} of the service cluster exists but lacks the label ${missing.map((each) => each.join("=")).join(", ")}`,
    { hint: "Add the label, or delete the Secret if it is not the control plane's." },
  );
}

interface ContentWith {
  readonly now: number;
  readonly backups: Backups | undefined;
  readonly signal: AbortSignal;
}

async function contentOf({ entries }: Credentials, using: ContentWith): Promise<Record<string, string>> {
  const files = await Promise.all(entries.map((entry) => filesOf(entry, using)));
  const all = Object.assign({}, ...files) as Record<string, string>;
  return secretData(all);
}

async function filesOf(entry: Entry, { now, backups, signal }: ContentWith): Promise<Record<string, string>> {
  const { file } = entry;
  const pair = ({ certificate, key }: { certificate: string; key: string }) => ({
    [`${file}.crt`]: certificate,
    [`${file}.key`]: key,
  });
  switch (entry.type) {
    case "text":
      return { [file]: entry.text };
    case "certificate":
      return pair(
        await issueCertificate(entry.authority, { ...entry.subject, usages: entry.usages, lifetime: YEAR, now }),
      );
    case "kubeconfig": {
      const { authority, user, server, trusted } = entry;
      const client = await issueCertificate(authority, { commonName: user, usages: ["client"], lifetime: YEAR, now });
      const { certificate, key } = client;
      const config = { server, ca: trusted, certificate, key, clusterName: "kubernetes", userName: user };
      return { [file]: renderKubeconfig(config) };
    }
    case "authority":
      return pair(await createAuthority({ commonName: entry.commonName, lifetime: YEAR * 10, now }));
    case "password":
      return { [file]: randomBytes(32).toString("base64url") };
    case "encryption":
      return { [file]: encryptionConfig(randomBytes(32).toString("base64")) };
    case "restored-encryption":
      if (backups === undefined) throw notOffered();
      return { [file]: secretNamed(await backups.secrets(entry.from, signal), "encryption") };
  }
}
