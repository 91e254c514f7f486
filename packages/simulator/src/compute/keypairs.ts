import { createHash } from "node:crypto";
import { at, bodyOf, textAt } from "../kernel/json.ts";
import { invalid } from "./create-request.ts";
import { computeError, type ComputeApp, type ComputeParts, type Keypair } from "./model.ts";

/** Key pairs of the caller. Only import: a key made here would be a secret to keep, and Nova itself has given that up (2.92). */
export function addKeypairRoutes(app: ComputeApp, { kernel, tables }: ComputeParts): void {
  const typed = (minor: number) => (minor >= 2 ? { type: "ssh" } : {});
  const brief = (k: Keypair, minor: number) => ({
    name: k.name,
    public_key: k.public_key,
    fingerprint: k.fingerprint,
    ...typed(minor),
  });
  app.get("/v2.1/os-keypairs", (c) => {
    const keypairs = tables.keypairs.by("user_id", c.get("caller").userId);
    return c.json({ keypairs: keypairs.map((k) => ({ keypair: brief(k, c.get("minor")) })) });
  });
  app.post("/v2.1/os-keypairs", async (c) => {
    const given = at(await bodyOf(c.req), "keypair");
    const { userId: user_id } = c.get("caller");
    const name = textAt(given, "name") ?? "";
    const public_key = textAt(given, "public_key");
    if (c.get("minor") >= 92) requireImport(given, name);
    if (name === "" || public_key === undefined) {
      throw computeError(400, "Keypair data is invalid: failed to generate fingerprint: only import is offered");
    }
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
    return c.json({ keypair: { ...brief(keypair, c.get("minor")), user_id } }, c.get("minor") >= 2 ? 201 : 200);
  });
  const keypairOf = (user: string, name: string) => {
    const keypair = tables.keypairs.get(`${user}/${name}`);
    if (!keypair) throw computeError(404, `Keypair ${name} not found for user ${user}`);
    return keypair;
  };
  app.get("/v2.1/os-keypairs/:name", (c) => {
    const k = keypairOf(c.get("caller").userId, c.req.param("name"));
    const rest = { created_at: k.created_at, deleted: false, deleted_at: null, id: k.number, updated_at: null };
    return c.json({ keypair: { ...brief(k, 1), user_id: k.user_id, ...rest, ...typed(c.get("minor")) } });
  });
  app.delete("/v2.1/os-keypairs/:name", (c) => {
    tables.keypairs.remove(keypairOf(c.get("caller").userId, c.req.param("name")).id);
    return c.body(null, c.get("minor") >= 2 ? 204 : 202);
  });
}

/** From 2.92 keys are only imported, and their names are plain. */
function requireImport(given: unknown, name: string): void {
  if (!/^[\w@. -]+$/.test(name)) {
    const allowed = "[@._- 0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ]";
    throw computeError(
      400,
      `An invalid 'name' value was provided. The name must be: Only expected characters: ${allowed}`,
    );
  }
  if (at(given, "public_key") === undefined) {
    throw invalid("keypair", given, "'public_key' is a required property");
  }
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
