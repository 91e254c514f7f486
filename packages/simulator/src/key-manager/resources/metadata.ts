import type { Context } from "hono";
import type { Caller, Service } from "../../kernel/interface.ts";
import { at, bodyOf, isObject, textAt } from "../../kernel/json.ts";
import { keyError, owned, readable, type KeyParts, type Secret } from "../model.ts";
import { keyRoot } from "../listing.ts";

type KeyRequest = Context<{ Variables: { caller: Caller } }>;
type Metadata = Readonly<Record<string, string>>;

const LONGEST = 255;
const all = "/v1/secrets/:id/metadata";
const one = `${all}/:key`;

const noneSuch = () => keyError(404, "Not Found", "Secret metadata not found.");
const refuse = (schema: string, why: string) =>
  keyError(400, "Bad Request", `Provided object does not match schema '${schema}': ${why}`);

/**
 * What users note of their secrets: keys are kept in small letters, https://docs.openstack.org/api-ref/key-manager/v1/
 * .
 */
export function mountMetadata(app: Service["app"], { tables }: KeyParts): void {
  const { secrets } = tables;
  const found = (c: KeyRequest): Secret | undefined => secrets.get(c.req.param("id") ?? "");
  const seen = (c: KeyRequest, doing: string) => readable(found(c), c.get("caller"), { what: "Secret", doing });
  const mine = (c: KeyRequest, doing: string) => owned(found(c), c.get("caller"), { what: "Secret", doing });
  const keep = ({ id }: Secret, metadata: Metadata) => secrets.update(id, { metadata });
  app.get(all, (c) => c.json({ metadata: seen(c, "Secret metadata retrieval").metadata ?? {} }));
  app.put(all, async (c) => {
    const secret = mine(c, "Secret metadata creation");
    keep(secret, metadataOf(at(await bodyOf(c.req), "metadata")));
    return c.json({ metadata_ref: `${keyRoot(c)}/secrets/${secret.id}/metadata` }, 201);
  });
  app.post(all, async (c) => {
    const secret = mine(c, "Secret metadatum creation");
    const { key, value } = metadatumOf(await bodyOf(c.req));
    if (secret.metadata?.[key] !== undefined) {
      throw keyError(409, "Conflict", "Conflict. Key in request is already in the secret metadata");
    }
    keep(secret, { ...secret.metadata, [key]: value });
    return c.json({ key, value }, 201, { location: `${keyRoot(c)}/secrets/${secret.id}/metadata/${key}` });
  });
  app.get(one, (c) => {
    const key = c.req.param("key");
    const value = seen(c, "Secret metadatum retrieval").metadata?.[key];
    if (value === undefined) throw noneSuch();
    return c.json({ key, value });
  });
  app.put(one, async (c) => {
    const secret = mine(c, "Secret metadatum update");
    const { key, value } = metadatumOf(await bodyOf(c.req));
    const asked = c.req.param("key");
    if (secret.metadata?.[asked] === undefined) throw noneSuch();
    if (asked !== key) throw keyError(409, "Conflict", "Key in request data does not match key in the ");
    keep(secret, { ...secret.metadata, [key]: value });
    return c.json({ key, value });
  });
  app.delete(one, (c) => {
    const secret = mine(c, "Secret metadatum removal");
    const { [c.req.param("key")]: _gone, ...others } = secret.metadata ?? {};
    keep(secret, others);
    return c.body(null, 204);
  });
}

function metadataOf(given: unknown): Metadata {
  if (given === undefined)
    throw refuse("SecretMetadata", "'metadata' is a required property. Invalid property: 'metadata'");
  if (!isObject(given)) throw refuse("SecretMetadata", "it is not of type 'object'. Invalid property: 'metadata'");
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => {
      plain(key);
      if (typeof value === "string") return [key.toLowerCase(), value];
      throw keyError(400, "Bad Request", "Invalid Metadata. Keys and Values must be Strings.");
    }),
  );
}

function metadatumOf(given: unknown): { readonly key: string; readonly value: string } {
  const [key, value] = [textAt(given, "key"), textAt(given, "value")];
  if (key === undefined) throw refuse("SecretMetadatum", "'key' is a required property. Invalid property: 'key'");
  if (value === undefined) throw refuse("SecretMetadatum", "'value' is a required property. Invalid property: 'value'");
  if (Math.max(key.length, value.length) > LONGEST) throw refuse("SecretMetadatum", "it is too long");
  plain(key);
  return { key: key.toLowerCase(), value };
}

function plain(key: string): void {
  if (!/^[\w-]*$/.test(key)) throw keyError(400, "Bad Request", "Invalid Key. Key must be URL safe.");
}
