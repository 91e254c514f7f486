import { isUtf8 } from "node:buffer";
import type { Context } from "hono";
import type { Caller, Service } from "../../kernel/interface.ts";
import { bodyOf, isObject, textAt, type JsonObject } from "../../kernel/json.ts";
import { pythonRepr } from "../../kernel/python.ts";
import { instantOf, keyError, owned, permit, readable, type KeyParts, type Secret } from "../model.ts";
import { keyRoot, pageOf } from "../listing.ts";
import { filteredSecrets } from "../rules/secret-filters.ts";

const types = ["symmetric", "passphrase", "private", "public", "certificate", "opaque"];
const TEXT = "text/plain";
const BYTES = "application/octet-stream";
const known = [TEXT, "text/plain;charset=utf-8", "text/plain; charset=utf-8", BYTES, "application/pkcs8"];

/** Secrets: their descriptions, and their payloads. */
export function mountSecrets(app: Service["app"], parts: KeyParts): void {
  const { kernel, tables } = parts;
  const { secrets } = tables;
  app.get("/v1/secrets", (c) => {
    permit(c.get("caller"), "Secret(s) retrieval");
    const mine = secrets.by("project_id", c.get("caller").projectId).filter((s) => !isOver(parts, s));
    const found = filteredSecrets(mine, new URL(c.req.url).searchParams);
    return pageOf(c, "secrets", found, (s) => secretView(c, s));
  });
  app.on("POST", ["/v1/secrets", "/v1/secrets/"], async (c) => {
    permit(c.get("caller"), "Secret creation");
    const given = await bodyOf(c.req);
    if (given === undefined) throw keyError(400, "Bad Request", "Malformed JSON");
    if (!isObject(given)) throw keyError(400, "Bad Request", "Provided object does not match schema 'Secret'");
    const now = instantOf(kernel);
    const { projectId, userId } = c.get("caller");
    const secret = secrets.insert({
      id: kernel.newId(),
      name: textAt(given, "name") ?? null,
      project_id: projectId,
      creator_id: userId,
      secret_type: typeOf(given),
      algorithm: textAt(given, "algorithm") ?? null,
      bit_length: bitsOf(given["bit_length"]),
      mode: textAt(given, "mode") ?? null,
      expiration: expirationOf(parts, given),
      ...payloadOf(given),
      created: now,
      updated: now,
    });
    const secret_ref = `${keyRoot(c)}/secrets/${secret.id}`;
    return c.json({ secret_ref }, 201, { location: secret_ref });
  });
  app.get("/v1/secrets/:id", (c) => {
    const secret = present(parts, c, "retrieval");
    const accept = c.req.header("accept") ?? "application/json";
    if (accept.includes("application/json") || accept.includes("*/*")) return c.json(secretView(c, secret));
    return payload(c, secret);
  });
  app.get("/v1/secrets/:id/payload", (c) => payload(c, present(parts, c, "payload retrieval")));
  app.put("/v1/secrets/:id", async (c) => {
    const secret = owned(secrets.get(c.req.param("id")), c.get("caller"), deed("update"));
    const bytes = Buffer.from(await c.req.arrayBuffer());
    if (secret.base64 !== undefined) {
      throw keyError(409, "Conflict", "Secret already has data, cannot modify it.");
    }
    if (bytes.length === 0) throw keyError(400, "Bad Request", "No data supplied to process.");
    const encoded = c.req.header("content-encoding") === "base64";
    const content_type = (c.req.header("content-type") ?? TEXT).split(";")[0] ?? TEXT;
    const base64 = encoded ? bytes.toString() : bytes.toString("base64");
    secrets.update(secret.id, { base64, content_type, updated: instantOf(kernel) });
    return c.body(null, 204);
  });
  app.delete("/v1/secrets/:id", (c) => {
    const { id } = owned(secrets.get(c.req.param("id")), c.get("caller"), deed("deletion"));
    secrets.remove(id);
    return c.body(null, 204);
  });
}

const isOver = ({ kernel }: KeyParts, { expiration }: Secret): boolean =>
  expiration !== null && Date.parse(`${expiration}Z`) <= kernel.clock.now();

const deed = (doing: string) => ({ what: "Secret", doing: `Secret ${doing}` });

function present(parts: KeyParts, c: Context<{ Variables: { caller: Caller } }>, doing: string): Secret {
  const id = c.req.param("id") ?? "";
  if (!/^[0-9a-f-]{32,36}$/.test(id)) throw keyError(404, "Not Found", "Not Found. Provided secret id is invalid.");
  const secret = parts.tables.secrets.get(id);
  const alive = secret && !isOver(parts, secret) ? secret : undefined;
  return readable(alive, c.get("caller"), deed(doing));
}

/** A secret as Barbican returns it: its payload is a request of its own. */
export function secretView(c: Context, s: Secret): object {
  return {
    created: s.created,
    updated: s.updated,
    status: "ACTIVE",
    name: s.name,
    secret_type: s.secret_type,
    expiration: s.expiration,
    algorithm: s.algorithm,
    bit_length: s.bit_length,
    mode: s.mode,
    creator_id: s.creator_id,
    ...(s.content_type === undefined ? {} : { content_types: { default: s.content_type } }),
    secret_ref: `${keyRoot(c)}/secrets/${s.id}`,
  };
}

function payload(c: Context, secret: Secret): Response {
  if (secret.base64 === undefined) {
    throw keyError(404, "Not Found", "Not Found. Sorry but your secret has no payload.");
  }
  const accept = (c.req.header("accept") ?? "").split(",")[0]?.trim() ?? "";
  const kept = secret.content_type ?? TEXT;
  const bytes = Buffer.from(secret.base64, "base64");
  const asked = accept === "" || accept === "*/*" ? kept : accept;
  // Bytes that are text are returned as either.
  if (!known.includes(asked) || (asked.startsWith(TEXT) && !isUtf8(bytes))) {
    throw keyError(
      406,
      "Not Acceptable",
      "Secret payload retrieval issue seen - Requested content type is not supported.",
    );
  }
  const type = asked === TEXT ? "text/plain; charset=utf-8" : asked;
  return c.body(new Uint8Array(bytes), 200, { "content-type": type });
}

const listed = (texts: readonly string[]): string => `[${texts.map((text) => `'${text}'`).join(", ")}]`;

function bitsOf(bits: unknown): number | null {
  if (typeof bits !== "number") return null;
  if (bits >= 1) return bits;
  const why = `${bits} is less than the minimum of 1. Invalid property: 'bit_length'`;
  throw keyError(400, "Bad Request", `Provided object does not match schema 'Secret': ${why}`);
}

function typeOf(given: JsonObject): string {
  const type = given["secret_type"] ?? "opaque";
  if (typeof type === "string" && types.includes(type)) return type;
  const why = `${pythonRepr(type)} is not one of ${listed(types)}`;
  throw keyError(
    400,
    "Bad Request",
    `Provided object does not match schema 'Secret': ${why}. Invalid property: 'secret_type'`,
  );
}

function expirationOf({ kernel }: KeyParts, given: JsonObject): string | null {
  const text = textAt(given, "expiration");
  if (text === undefined || text === "") return null;
  const at = Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
  const refuse = (why: string) =>
    keyError(
      400,
      "Bad Request",
      `Provided object does not match schema 'Secret': ${why}. Invalid property: 'expiration'`,
    );
  if (Number.isNaN(at)) throw refuse("Invalid date for 'expiration'");
  if (at <= kernel.clock.now()) throw refuse("'expiration' is before current time");
  return new Date(at).toISOString().slice(0, 19);
}

function payloadOf(given: JsonObject): Pick<Secret, "content_type" | "base64"> {
  const refuse = (why: string) =>
    keyError(400, "Bad Request", `Provided object does not match schema 'Secret': ${why}`);
  const { payload, payload_content_type: type, payload_content_encoding: encoding } = given;
  if (payload === undefined) {
    if (type !== undefined) throw refuse("payload must be provided when payload_content_type is supplied.");
    return {};
  }
  if (typeof payload !== "string" || payload === "") throw refuse("If 'payload' specified, must be non empty.");
  if (typeof type !== "string") {
    const why = "If 'payload' is supplied, 'payload_content_type' must also be supplied.";
    throw refuse(`${why}. Invalid property: 'payload_content_type'`);
  }
  if (!known.includes(type.toLowerCase())) {
    throw refuse(`payload_content_type is not one of ${listed(known)}. Invalid property: 'payload_content_type'`);
  }
  if (encoding === "base64") return { content_type: type, base64: payload };
  if (type === BYTES) {
    throw refuse("payload_content_encoding must be specified when payload_content_type is application/octet-stream.");
  }
  return { content_type: TEXT, base64: Buffer.from(payload).toString("base64") };
}
