import { createHash, generateKeyPair } from "node:crypto";
import { promisify } from "node:util";
import { at, bodyOf, textAt } from "../../kernel/json.ts";
import { invalid } from "../rules/create-request.ts";
import { computeError, denied, type ComputeApp, type ComputeParts, type Keypair } from "../model.ts";
import { pythonRepr } from "../../kernel/python.ts";
import type { ComputeContext } from "../views.ts";

/**
 * Key pairs of the caller. Before 2.92 a key pair without a public key is generated here; its private key is returned
 * once and not stored.
 */
export function mountKeypairs(app: ComputeApp, { kernel, tables }: ComputeParts): void {
  const typed = (minor: number) => (minor >= 2 ? { type: "ssh" } : {});
  const brief = (k: Keypair, minor: number) => ({
    name: k.name,
    public_key: k.public_key,
    fingerprint: k.fingerprint,
    ...typed(minor),
  });
  app.get("/v2.1/os-keypairs", (c) => {
    const keypairs = tables.keypairs.by("user_id", userOf(c, c.req.query("user_id")));
    return c.json({ keypairs: keypairs.map((k) => ({ keypair: brief(k, c.get("minor")) })) });
  });
  app.post("/v2.1/os-keypairs", async (c) => {
    const given = at(await bodyOf(c.req), "keypair");
    const user_id = userOf(c, textAt(given, "user_id"));
    const minor = c.get("minor");
    if (given === undefined) throw computeError(400, "'keypair' is a required property");
    const name = nameOf(given, minor);
    if (minor >= 92 && at(given, "public_key") === undefined) {
      throw invalid("keypair", given, "'public_key' is a required property");
    }
    const pair = textAt(given, "public_key") === undefined ? await newPair() : undefined;
    const public_key = pair?.public_key ?? textAt(given, "public_key") ?? "";
    if (tables.keypairs.get(`${user_id}/${name}`)) throw computeError(409, `Key pair '${name}' already exists.`);
    const limit = kernel.quota(c.get("caller").projectId, "key_pairs");
    if (limit >= 0 && tables.keypairs.by("user_id", user_id).length >= limit) {
      throw computeError(403, "Quota exceeded, too many key pairs.");
    }
    const keypair = tables.keypairs.insert({
      id: `${user_id}/${name}`,
      number: tables.keypairs.all().length + 1,
      name,
      user_id,
      type: "ssh",
      public_key,
      fingerprint: fingerprintOf(public_key),
      created_at: kernel.timestamp().replace(/Z$/, ".000000"),
    });
    const made = pair ? { private_key: pair.private_key } : {};
    return c.json({ keypair: { ...brief(keypair, minor), ...made, user_id } }, minor >= 2 ? 201 : 200);
  });
  const keypairOf = (user: string, name: string) => {
    const keypair = tables.keypairs.get(`${user}/${name}`);
    if (!keypair) throw computeError(404, `Keypair ${name} not found for user ${user}`);
    return keypair;
  };
  app.get("/v2.1/os-keypairs/:name", (c) => {
    const k = keypairOf(userOf(c, c.req.query("user_id")), c.req.param("name"));
    const rest = { created_at: k.created_at, deleted: false, deleted_at: null, id: k.number, updated_at: null };
    return c.json({ keypair: { ...brief(k, 1), user_id: k.user_id, ...rest, ...typed(c.get("minor")) } });
  });
  app.delete("/v2.1/os-keypairs/:name", (c) => {
    tables.keypairs.remove(keypairOf(userOf(c, c.req.query("user_id")), c.req.param("name")).id);
    return c.body(null, c.get("minor") >= 2 ? 204 : 202);
  });
}

/** Whose keys are meant: from 2.10 an administrator may name another user. */
function userOf(c: ComputeContext, asked: string | undefined): string {
  const { userId, isAdmin } = c.get("caller");
  if (asked === undefined || c.get("minor") < 10 || asked === userId) return userId;
  if (!isAdmin) throw denied("os_compute_api:os-keypairs:show");
  return asked;
}

/** A key's name: letters, digits, and few signs, which are more from 2.92 on. Throws Nova's 400. */
function nameOf(given: unknown, minor: number): string {
  const name = textAt(given, "name") ?? "";
  if (name === "") throw computeError(400, "Invalid input for field/attribute name. Value: . '' is too short");
  if (name.length > 255) throw invalid("name", name, `${pythonRepr(name)} is too long`);
  const signs = minor >= 92 ? "@._- " : "_- ";
  if (new RegExp(`^[a-zA-Z0-9${signs.replaceAll("-", String.raw`\-`)}]+$`).test(name)) return name;
  const allowed = `[${signs}0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ]`;
  const why = `The name must be: Only expected characters: ${allowed}`;
  throw computeError(400, `An invalid 'name' value was provided. ${why}`);
}

const generate = promisify(generateKeyPair);

/** A new RSA key: the public half as OpenSSH writes it (RFC 4253, 6.6), the private one as PEM. */
async function newPair(): Promise<{ readonly public_key: string; readonly private_key: string }> {
  const { publicKey, privateKey } = await generate("rsa", { modulusLength: 2048 });
  const { n = "", e = "" } = publicKey.export({ format: "jwk" });
  const [exponent, modulus] = [Buffer.from(e, "base64url"), Buffer.from(n, "base64url")];
  // A leading zero keeps a number from being read as negative.
  const number = (bytes: Buffer) => ((bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes);
  const blob = [Buffer.from("ssh-rsa"), number(exponent), number(modulus)].flatMap((part) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(part.length);
    return [length, part];
  });
  return {
    public_key: `ssh-rsa ${Buffer.concat(blob).toString("base64")} Generated-by-Nova`,
    private_key: privateKey.export({ type: "pkcs1", format: "pem" }).toString(),
  };
}

/** MD5 of the key's bytes as pairs of digits. Throws 400 if this is no OpenSSH public key. */
function fingerprintOf(publicKey: string): string {
  const [type = "", data = ""] = publicKey.trim().split(/\s+/);
  const bytes = Buffer.from(data, "base64");
  if (!/^(ssh|ecdsa|sk)-/.test(type) || !bytes.includes(type)) {
    throw computeError(400, "Keypair data is invalid: failed to generate fingerprint");
  }
  return createHash("md5").update(bytes).digest("hex").match(/../g)?.join(":") ?? "";
}
