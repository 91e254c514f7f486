import { X509Certificate } from "node:crypto";
import { createSecureContext, type SecureContext, type SecureContextOptions } from "node:tls";
import type { KeyTables } from "../key-manager/model.ts";

/**
 * A reference of the key manager as options of TLS: a container's parts, or a secret with PKCS #12 or PEM. Undefined:
 * it cannot be used.
 */
export function tlsMaterial(
  { containers, secrets }: KeyTables,
  ref: string | undefined,
): SecureContextOptions | undefined {
  const id = ref?.split("/").at(-1) ?? "";
  const container = containers.get(id);
  const payload = (wanted: string): Buffer | undefined => {
    const base64 = secrets.get(wanted)?.base64;
    return base64 === undefined ? undefined : Buffer.from(base64, "base64");
  };
  if (!container) {
    const bytes = payload(id);
    if (!bytes) return undefined;
    return bytes[0] === 0x30 ? { pfx: bytes, passphrase: "" } : { cert: bytes, key: bytes };
  }
  const part = (name: string): Buffer | undefined =>
    payload(
      container.secret_refs
        .find((each) => each.name === name)
        ?.secret_ref.split("/")
        .at(-1) ?? "",
    );
  const [certificate, key, more] = [part("certificate"), part("private_key"), part("intermediates")];
  const passphrase = part("private_key_passphrase")?.toString();
  if (!certificate || !key) return undefined;
  const cert = more ? Buffer.concat([certificate, Buffer.from("\n"), more]) : certificate;
  return { cert, key, ...(passphrase === undefined ? {} : { passphrase }) };
}

/** A secret that is not a key: certificates of authorities. */
export function authorities({ secrets }: KeyTables, ref: string | undefined): Buffer | undefined {
  const base64 = secrets.get(ref?.split("/").at(-1) ?? "")?.base64;
  return base64 === undefined ? undefined : Buffer.from(base64, "base64");
}

/** A certificate ready to be served, and the lower-case host names it is for (with wildcards). */
export interface NamedContext {
  readonly context: SecureContext;
  readonly names: readonly string[];
}

/** A certificate with the host names it is for; undefined where the material cannot be used. */
export function namedContext(material: SecureContextOptions, more: SecureContextOptions): NamedContext | undefined {
  try {
    const context = createSecureContext({ ...material, ...more });
    return { context, names: namesOf(context) };
  } catch {
    return undefined;
  }
}

function namesOf(context: SecureContext): readonly string[] {
  // Node's context has the certificate it was made with, whichever form that came in.
  const { context: native } = context as { readonly context: { getCertificate(): Buffer | null } };
  const der = native.getCertificate();
  if (!der) return [];
  const { subject, subjectAltName = "" } = new X509Certificate(der);
  const common = /^CN=(.+)$/m.exec(subject)?.[1];
  const alternative = [...subjectAltName.matchAll(/DNS:([^,\s]+)/g)].map(([, name = ""]) => name);
  return [...alternative, ...(common === undefined ? [] : [common])].map((name) => name.toLowerCase());
}

/** The certificate for a server name as HAProxy chooses it: an exact name, a wildcard of its first label, else none. */
export function contextFor(contexts: readonly NamedContext[], serverName: string): SecureContext | undefined {
  const name = serverName.toLowerCase();
  const wildcard = `*.${name.split(".").slice(1).join(".")}`;
  const exact = contexts.find(({ names }) => names.includes(name));
  return (exact ?? contexts.find(({ names }) => names.includes(wildcard)))?.context;
}
