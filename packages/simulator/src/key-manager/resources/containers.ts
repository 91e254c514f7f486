import type { Context } from "hono";
import type { Service } from "../../kernel/interface.ts";
import { bodyOf, isObject, textAt } from "../../kernel/json.ts";
import {
  instantOf,
  keyError,
  owned,
  permit,
  readable,
  type Consumer,
  type Container,
  type KeyParts,
  type SecretReference,
} from "../model.ts";
import { keyRoot, pageOf } from "../listing.ts";
import { isLike } from "../rules/secret-filters.ts";

const types = ["generic", "rsa", "certificate"];

/** Containers: named references to secrets, as TERMINATED_HTTPS listeners use them. */
export function mountContainers(app: Service["app"], { kernel, tables }: KeyParts): void {
  const { containers } = tables;
  const view = (c: Context, container: Container) =>
    containerView(c, container, tables.consumers.by("of", container.id));
  app.get("/v1/containers", (c) => {
    permit(c.get("caller"), "Containers(s) retrieval");
    const [name, wanted] = [c.req.query("name") ?? "", c.req.query("type") ?? ""];
    const mine = containers.by("project_id", c.get("caller").projectId);
    const found = mine.filter((one) => isLike(one.name, name) && (wanted === "" || one.type === wanted));
    return pageOf(c, "containers", found, (o) => view(c, o));
  });
  app.on("POST", ["/v1/containers", "/v1/containers/"], async (c) => {
    permit(c.get("caller"), "Container creation");
    const given = await bodyOf(c.req);
    const type = textAt(given, "type") ?? "";
    if (!isObject(given) || !types.includes(type)) {
      const why =
        type === ""
          ? "'type' is a required property. Invalid property: 'None'"
          : `'${type}' is not one of ['generic', 'rsa', 'certificate']. Invalid property: 'type'`;
      throw keyError(400, "Bad Request", `Provided object does not match schema 'Container': ${why}`);
    }
    const { projectId, userId } = c.get("caller");
    const references = referencesOf(given["secret_refs"]);
    if (type === "rsa") requirePair(references);
    for (const { secret_ref } of references) {
      if (!isOf(tables, secret_ref, projectId)) {
        throw keyError(404, "Not Found", "Secret provided for the container doesn't exist.");
      }
    }
    const now = instantOf(kernel);
    const made = containers.insert({
      id: kernel.newId(),
      name: textAt(given, "name") ?? null,
      project_id: projectId,
      creator_id: userId,
      type,
      secret_refs: references,
      created: now,
      updated: now,
    });
    const container_ref = `${keyRoot(c)}/containers/${made.id}`;
    return c.json({ container_ref }, 201, { location: container_ref });
  });
  app.get("/v1/containers/:id", (c) => {
    return c.json(view(c, readable(containers.get(c.req.param("id")), c.get("caller"), deed("retrieval"))));
  });
  app.delete("/v1/containers/:id", (c) => {
    const { id } = owned(containers.get(c.req.param("id")), c.get("caller"), deed("deletion"));
    containers.remove(id);
    for (const consumer of tables.consumers.by("of", id)) tables.consumers.remove(consumer.id);
    return c.body(null, 204);
  });
}

/** A secret is put into a container that is there, and removed from it: of generic ones alone. */
export function mountContainerSecrets(app: Service["app"], { tables }: KeyParts): void {
  const { containers } = tables;
  const path = "/v1/containers/:id/secrets";
  const isSame = (a: SecretReference, b: SecretReference): boolean =>
    a.name === b.name && idOf(a.secret_ref) === idOf(b.secret_ref);
  app.post(path, async (c) => {
    const doing = { what: "Container", doing: "Container Secret creation" };
    const { id, type, secret_refs } = owned(containers.get(c.req.param("id")), c.get("caller"), doing);
    if (type !== "generic") throw keyError(400, "Bad Request", "Only 'generic' containers can be modified.");
    const reference = referenceOf(await bodyOf(c.req), "ContainerSecret");
    if (!isOf(tables, reference.secret_ref, c.get("caller").projectId)) {
      throw keyError(404, "Not Found", "Secret provided doesn't exist.");
    }
    if (secret_refs.some((known) => isSame(known, reference))) {
      const rule = "The same secret can exist in a container as long as the name is unique.";
      const what = "A secret with that name and ID is already stored in this container.";
      throw keyError(409, "Conflict", `Conflict. ${what} ${rule}`);
    }
    containers.update(id, { secret_refs: [...secret_refs, reference] });
    const container_ref = `${keyRoot(c)}/containers/${id}`;
    return c.json({ container_ref }, 201, { location: container_ref });
  });
  app.delete(path, async (c) => {
    const doing = { what: "Container", doing: "Container Secret deletion" };
    const { id, secret_refs } = owned(containers.get(c.req.param("id")), c.get("caller"), doing);
    const reference = referenceOf(await bodyOf(c.req), "ContainerSecret");
    const { name, secret_ref } = reference;
    if (!isOf(tables, secret_ref, c.get("caller").projectId)) {
      throw keyError(404, "Not Found", `Secret '${name}' with reference '${secret_ref}' doesn't exist.`);
    }
    const left = secret_refs.filter((known) => !isSame(known, reference));
    if (left.length === secret_refs.length) {
      throw keyError(404, "Not Found", "Secret provided is not in the container");
    }
    containers.update(id, { secret_refs: left });
    return c.body(null, 204);
  });
}

/** Whether a reference is to a secret of the project. */
const isOf = ({ secrets }: KeyParts["tables"], reference: string, project: string): boolean =>
  secrets.get(idOf(reference))?.project_id === project;

const idOf = (reference: string): string => reference.split("/").at(-1) ?? "";

const deed = (doing: string) => ({ what: "Container", doing: `Container ${doing}` });

/** A pair of keys that has any has both. */
function requirePair(references: readonly SecretReference[]): void {
  const has = new Set(references.map(({ name }) => name));
  if (has.size === 0 || (has.has("public_key") && has.has("private_key"))) return;
  const why = "The minimum required reference names are 'public_key' and'private_key' for RSA type.";
  throw keyError(
    400,
    "Bad Request",
    `Provided object does not match schema 'Container': ${why} Invalid property: 'secret_refs'`,
  );
}

/** A container as Barbican returns it, with those that have registered as its consumers. */
export function containerView(c: Context, o: Container, consumers: readonly Consumer[]): object {
  return {
    created: o.created,
    updated: o.updated,
    status: "ACTIVE",
    name: o.name,
    type: o.type,
    consumers: consumers.map(({ name, URL }) => ({ name, URL })),
    creator_id: o.creator_id,
    secret_refs: o.secret_refs,
    container_ref: `${keyRoot(c)}/containers/${o.id}`,
  };
}

function referencesOf(value: unknown): readonly SecretReference[] {
  return (Array.isArray(value) ? value : []).map((reference: unknown) => referenceOf(reference, "Container"));
}

function referenceOf(value: unknown, schema: string): SecretReference {
  const secret_ref = textAt(value, "secret_ref");
  if (secret_ref === undefined) {
    const why = "'secret_ref' is a required property. Invalid property: 'None'";
    throw keyError(400, "Bad Request", `Provided object does not match schema '${schema}': ${why}`);
  }
  return { name: textAt(value, "name") ?? "", secret_ref };
}
