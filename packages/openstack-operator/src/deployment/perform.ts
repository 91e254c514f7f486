import { isIP } from "node:net";
import { CausewayError, createAuthority, issueCertificate, type Clock, type KeyPair } from "@causeway/foundation";
import {
  isAlreadyExists,
  Secret,
  secretData,
  secretText,
  timestamp,
  type ApplyConfiguration,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
} from "@causeway/kubernetes";
import { resolveCatalogue } from "../catalogue/index.ts";
import { keyGenerationOf, readCredentials, writeCredentials } from "../credentials/credentials.ts";
import { completed, withReplacedKeys } from "../credentials/new-values.ts";
import { annotations as names, fieldManager } from "../model/names.ts";
import { digestOf, metadataOf } from "../render/context.ts";
import { mutableSecrets } from "../render/desired.ts";
import { writtenKinds, type Observed } from "./gather.ts";
import { optionalTypeOf } from "./optional-kinds.ts";
import { keysAfter, newKeys } from "./keys-secret.ts";
import { hostsAnnotation, keysGenerationAnnotation, renewedAtAnnotation, rotatedAtAnnotation } from "./rotation.ts";
import type { Step } from "./steps.ts";

/** What steps are performed with. */
export interface PerformContext {
  readonly client: KubernetesClient;
  readonly clock: Clock;
}

const DAY = 24 * 3_600_000;

/** Performs one step. Steps on Secrets read them again first: another leader may have been faster. */
export async function perform(
  using: PerformContext,
  step: Step,
  observed: Observed,
  signal: AbortSignal,
): Promise<void> {
  const { client } = using;
  switch (step.type) {
    case "apply":
      await client.apply(typeOf(step.object), step.object as ApplyConfiguration<KubeObject>, { fieldManager, signal });
      return;
    case "delete": {
      const { namespace = "", name, uid } = step.object.metadata;
      const preconditions = uid === undefined ? {} : { preconditions: { uid } };
      await client.delete(
        typeOf(step.object),
        { namespace, name },
        { propagationPolicy: "Background", ...preconditions, signal },
      );
      return;
    }
    case "write-credentials":
      return writeSecret(using, { observed, name: step.name, signal }, (found) => {
        const values = readCredentials(found?.data)?.values ?? {};
        const { components } = resolveCatalogue(observed.deployment.spec);
        return { data: writeCredentials(completed({ ...step, values }, components)), keep: true };
      });
    case "adopt-keys":
      return adoptKeys(using, step, observed, signal);
    case "create-keys":
      return writeSecret(using, { observed, name: step.name, signal }, (found) =>
        found ? undefined : { ...newKeys(step.staged, using.clock.now()), keep: true },
      );
    case "rotate-keys":
      return writeSecret(using, { observed, name: step.name, signal }, (found) => {
        const rotated = keysAfter(found, step, using.clock.now());
        return rotated && { ...rotated, keep: true };
      });
    case "replace-keys":
      return writeSecret(using, { observed, name: step.name, signal }, (found) => {
        const credentials = readCredentials(found?.data);
        // Another leader may have replaced them meanwhile.
        if (!credentials || keyGenerationOf(credentials) >= step.generation) return undefined;
        return { data: writeCredentials(withReplacedKeys(credentials, step.generation)), keep: true };
      });
    case "issue-certificate":
      return issue(using, step, observed, signal);
  }
}

function typeOf(object: KubeObject): ResourceType<KubeObject> {
  const { kind } = object;
  const type = writtenKinds.find((each) => each.kind === kind) ?? optionalTypeOf(object);
  if (!type) throw new TypeError(`the operator does not write objects of kind ${kind}`);
  return type;
}

interface NewSecret {
  readonly data: Record<string, string>;
  readonly annotations?: Record<string, string>;
  /** It remains when the deployment is deleted: the databases' passwords are as valuable as the databases. */
  readonly keep?: true;
}

/**
 * Reads the Secret from the server and writes it, or nothing where `next` has nothing to write. Fails if another writer
 * was faster.
 */
async function writeSecret(
  { client }: PerformContext,
  { observed, name, signal }: { readonly observed: Observed; readonly name: string; readonly signal: AbortSignal },
  next: (found: Secret | undefined) => NewSecret | undefined,
): Promise<void> {
  const { namespace = "" } = observed.deployment.metadata;
  const found = await client.find(Secret, { namespace, name }, { signal });
  const wanted = next(found);
  if (!wanted) return;
  const { data, keep } = wanted;
  const annotations = { ...kept(found), ...wanted.annotations };
  const metadata = metadataOf(observed, name, keep ? { keep } : {});
  const secret: Secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { ...metadata, ...(Object.keys(annotations).length > 0 ? { annotations } : {}) },
    type: "Opaque",
    data,
  };
  if (found) {
    const { resourceVersion = "" } = found.metadata;
    await client.update(
      Secret,
      { ...secret, metadata: { ...secret.metadata, resourceVersion } },
      { fieldManager, signal },
    );
    return;
  }
  try {
    await client.create(Secret, secret, { fieldManager, signal });
  } catch (error) {
    // Made by an attempt whose response was lost, or by another leader: the next plan reads it.
    if (!isAlreadyExists(error)) throw error;
  }
}

/** Which backup the passwords are of is known as long as they are. */
const kept = (found: Secret | undefined): Record<string, string> => {
  const restored = found?.metadata.annotations?.[names.restored];
  return restored === undefined ? {} : { [names.restored]: restored };
};

/**
 * Writes the passwords last: a process that dies before that begins again, and nothing reads the keys without them.
 * What volumes of databases and brokers were made with is kept, where it exists: their passwords are in their own data.
 */
async function adoptKeys(
  using: PerformContext,
  { name, backup }: Extract<Step, { type: "adopt-keys" }>,
  observed: Observed,
  signal: AbortSignal,
): Promise<void> {
  const { namespace = "", name: of } = observed.deployment.metadata;
  const source = await using.client.get(
    Secret,
    { namespace, name: observed.restoredKeys?.metadata.name ?? "" },
    { signal },
  );
  if (secretText(source, "backup") !== backup) throw wrongBackup(backup);
  const roles = readRoles(secretText(source, "keys") ?? "", backup);
  const targets = mutableSecrets(of);
  const others = [
    [targets.authority, roles["authority"]],
    [targets.tokenKeys, roles["token-keys"]],
    [targets.credentialKeys, roles["credential-keys"]],
  ] as const;
  for (const [secretName, values] of others) {
    if (values === undefined || Object.keys(values).length === 0) continue;
    const annotations = {
      [rotatedAtAnnotation]: timestamp(using.clock.now()),
      // Credential keys and the other keys of a backup were replaced as often.
      ...(secretName === targets.credentialKeys
        ? { [keysGenerationAnnotation]: roles["credentials"]?.["keys.generation"] ?? "0" }
        : {}),
    };
    await writeSecret(using, { observed, name: secretName, signal }, () => ({
      data: secretData(values),
      ...(secretName === targets.authority ? {} : { annotations }),
      keep: true,
    }));
  }
  await writeSecret(using, { observed, name, signal }, (found) => {
    const before = readCredentials(found?.data)?.values ?? {};
    const ofVolumes = Object.entries(before).filter(([key]) => /^(?:database|broker)\./.test(key));
    const data = secretData({ ...roles["credentials"], ...Object.fromEntries(ofVolumes) });
    return { data, annotations: { [names.restored]: backup }, keep: true };
  });
}

const wrongBackup = (backup: string): CausewayError =>
  new CausewayError("OPENSTACK_BACKUP_UNREADABLE", `the keys that were restored are not those of backup ${backup}`, {
    hint: "Delete the Job restore-keys of the deployment: it reads the backup again.",
  });

/** @throws OPENSTACK_BACKUP_UNREADABLE */
function readRoles(text: string, backup: string): Record<string, Record<string, string> | undefined> {
  let roles: unknown;
  try {
    roles = JSON.parse(text);
  } catch {
    throw wrongBackup(backup);
  }
  const isValues = (value: unknown): value is Record<string, string> =>
    typeof value === "object" && value !== null && Object.values(value).every((each) => typeof each === "string");
  if (typeof roles !== "object" || roles === null || !Object.values(roles).every(isValues)) throw wrongBackup(backup);
  const found = roles as Record<string, Record<string, string> | undefined>;
  if (found["credentials"]?.["keystone.admin"] === undefined) throw wrongBackup(backup);
  return found;
}

async function issue(
  using: PerformContext,
  step: Extract<Step, { type: "issue-certificate" }>,
  observed: Observed,
  signal: AbortSignal,
): Promise<void> {
  const authority = await authorityOf(using, observed, signal);
  const pair = await issueCertificate(authority, {
    // X.509 has no longer ones; clients read the other names.
    commonName: (step.hosts[0] ?? observed.deployment.metadata.name).slice(0, 64),
    dnsNames: step.hosts.filter((host) => !isAddress(host)),
    ipAddresses: step.hosts.filter(isAddress),
    usages: ["client", "server"],
    lifetime: step.days * DAY,
    now: using.clock.now(),
  });
  const data = secretData({
    "tls.crt": pair.certificate,
    "tls.key": pair.key,
    "client.pem": pair.certificate + pair.key,
    "ca.crt": authority.certificate,
    ...(step.name.endsWith("-octavia-certificates") ? { "ca.key": authority.key } : {}),
  });
  await writeSecret(using, { observed, name: step.name, signal }, (found) => {
    const before = found?.metadata.annotations?.[renewedAtAnnotation];
    const renewed = step.renews ? timestamp(using.clock.now()) : before;
    return {
      data,
      annotations: {
        [hostsAnnotation]: digestOf(step.hosts),
        ...(renewed === undefined ? {} : { [renewedAtAnnotation]: renewed }),
      },
    };
  });
}

const isAddress = (host: string): boolean => isIP(host) !== 0;

/** The authority of the deployment's own certificates. It outlives the deployment, as the passwords do. */
async function authorityOf(using: PerformContext, observed: Observed, signal: AbortSignal): Promise<KeyPair> {
  const { namespace = "", name: deployment } = observed.deployment.metadata;
  const name = `${deployment}-authority`;
  const made = await createAuthority({
    commonName: `${deployment} openstack`,
    lifetime: 3650 * DAY,
    now: using.clock.now(),
  });
  await writeSecret(using, { observed, name, signal }, (found) =>
    found ? undefined : { data: secretData({ "tls.crt": made.certificate, "tls.key": made.key }), keep: true },
  );
  const secret = await using.client.get(Secret, { namespace, name }, { signal });
  return { certificate: secretText(secret, "tls.crt") ?? "", key: secretText(secret, "tls.key") ?? "" };
}
