import { createAuthority } from "@causeway/foundation";
import { isConflict, Secret, secretData, secretText, type KubernetesClient } from "@causeway/kubernetes";
import type { Step } from "./steps.ts";
import { rotationAnnotation, rotationStageAnnotation, turnAnnotation } from "./tenant.ts";

const LIFETIME = 10 * 365 * 24 * 3600_000;

type Rotate = Extract<Step, { type: "rotate-etcd-authority" }>;
type Follow = Extract<Step, { type: "follow" }>;

/** One write, on condition that no other process wrote: of two leaders that make a key, one key is kept. */
export async function rotateEtcdAuthority(
  { client, now }: { readonly client: KubernetesClient; readonly now: number },
  step: Rotate,
  signal: AbortSignal,
): Promise<void | "deferred"> {
  const made =
    step.to === "trust" ? await createAuthority({ commonName: "etcd-ca", lifetime: LIFETIME, now }) : undefined;
  return write(client, nextEtcdAuthority(step, made), signal);
}

/** The content of the other one, and with it its stage. */
export async function followSecret(
  client: KubernetesClient,
  { secret, from }: Follow,
  signal: AbortSignal,
): Promise<void | "deferred"> {
  const names = [rotationStageAnnotation, rotationAnnotation, turnAnnotation];
  const own = Object.entries(secret.metadata.annotations ?? {}).filter(([name]) => !names.includes(name));
  const theirs = Object.entries(from.metadata.annotations ?? {}).filter(([name]) => names.includes(name));
  const metadata = { ...secret.metadata, annotations: Object.fromEntries([...own, ...theirs]) };
  return write(client, { ...secret, metadata, data: { ...from.data } }, signal);
}

/**
 * The Secret in its next stage: `ca.crt` has every authority that is trusted, the one that signs first, whose key is
 * `ca.key`; the other one is in `other.crt` and `other.key`. `made`: the new authority, for stage "trust".
 */
export function nextEtcdAuthority(
  { secret, to, rotation }: Rotate,
  made: { readonly certificate: string; readonly key: string } | undefined,
): Secret {
  const text = (name: string) => secretText(secret, name) ?? "";
  const other = { certificate: text("other.crt"), key: text("other.key") };
  const bundle = lineEnded(text("ca.crt"));
  const last = other.certificate === "" ? "" : lineEnded(other.certificate);
  const signer = { certificate: bundle.slice(0, bundle.length - last.length), key: text("ca.key") };
  const { [rotationStageAnnotation]: _stage, ...annotations } = secret.metadata.annotations ?? {};
  const turn = String(Number(annotations[turnAnnotation] ?? 0) + 1);
  const stage = to === "single" ? {} : { [rotationStageAnnotation]: to };
  const [first, second] = to === "trust" ? [signer, made] : to === "sign" ? [other, signer] : [signer, undefined];
  const data = {
    "ca.crt": lineEnded(first.certificate) + (second === undefined ? "" : lineEnded(second.certificate)),
    "ca.key": first.key,
    ...(second === undefined ? {} : { "other.crt": second.certificate, "other.key": second.key }),
  };
  return {
    ...secret,
    metadata: {
      ...secret.metadata,
      annotations: { ...annotations, ...stage, [rotationAnnotation]: rotation, [turnAnnotation]: turn },
    },
    data: secretData(data),
  };
}

function lineEnded(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}

async function write(client: KubernetesClient, secret: Secret, signal: AbortSignal): Promise<void | "deferred"> {
  try {
    await client.update(Secret, secret, { signal });
    return undefined;
  } catch (error) {
    if (isConflict(error)) return "deferred";
    throw error;
  }
}
