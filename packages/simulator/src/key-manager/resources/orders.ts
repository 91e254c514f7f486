import type { Context } from "hono";
import type { Caller, Service } from "../../kernel/interface.ts";
import { at, bodyOf, isObject, textAt, type JsonObject } from "../../kernel/json.ts";
import { instantOf, keyError, owned, permit, refusal, type KeyParts, type Order } from "../model.ts";
import { keepKey, keepPair, pairOf } from "../rules/ordered-keys.ts";
import { keyRoot, pageOf } from "../listing.ts";

type KeyRequest = Context<{ Variables: { caller: Caller } }>;

/** Orders of new keys, and of pairs of keys. */
export function mountOrders(app: Service["app"], parts: KeyParts): void {
  const { kernel, tables } = parts;
  const { orders } = tables;
  /** Orders of other projects are not there; who may not work with secrets is refused. */
  const mine = (c: KeyRequest, doing: string) => {
    const order = orders.get(c.req.param("id") ?? "");
    const seen = order?.project_id === c.get("caller").projectId ? order : undefined;
    return owned(seen, c.get("caller"), { what: "Order", doing });
  };
  app.get("/v1/orders", (c) => {
    permit(c.get("caller"), "Order(s) retrieval");
    const meta = c.req.query("meta") ?? "";
    const asked = orders
      .by("project_id", c.get("caller").projectId)
      .filter((order) => JSON.stringify(order.meta).includes(meta));
    return pageOf(c, "orders", asked, (o) => orderView(c, o));
  });
  app.on("POST", ["/v1/orders", "/v1/orders/"], async (c) => {
    permit(c.get("caller"), "Order creation");
    const given = await bodyOf(c.req);
    const [type, meta] = [textAt(given, "type"), at(given, "meta")];
    if (type !== undefined && !["key", "asymmetric", "certificate"].includes(type)) {
      const why = `'${type}' is not one of ['key', 'asymmetric', 'certificate']. Invalid property: 'type'`;
      throw keyError(400, "Bad Request", `Provided object does not match schema 'Order': ${why}`);
    }
    if ((type !== "key" && type !== "asymmetric") || !isObject(meta)) {
      throw keyError(
        400,
        "Bad Request",
        "Provided object does not match schema 'Order': orders of type key and asymmetric are accepted here.",
      );
    }
    if (type === "asymmetric") requirePair(meta);
    requireLength(type, meta);
    const { projectId: project_id, userId: creator_id } = c.get("caller");
    const now = instantOf(kernel);
    const ordering = { meta, project_id, creator_id, now, root: keyRoot(c) };
    const fullMeta = type === "key" ? meta : { name: null, expiration: null, ...meta };
    const pair = type === "key" ? undefined : await pairOf(meta);
    const id = kernel.newId();
    kernel.atomic(() => {
      const outcome = type === "key" ? keepKey(parts, ordering) : keepPair(parts, ordering, pair);
      orders.insert({ id, project_id, creator_id, type, meta: fullMeta, ...outcome, created: now, updated: now });
    });
    const order_ref = `${keyRoot(c)}/orders/${id}`;
    return c.json({ order_ref }, 202, { location: order_ref });
  });
  app.get("/v1/orders/:id", (c) => c.json(orderView(c, mine(c, "Order retrieval"))));
  app.delete("/v1/orders/:id", (c) => {
    const { id } = mine(c, "Order deletion");
    // The right to create an order does not include the right to delete it.
    if (!c.get("caller").roles.includes("admin")) throw refusal("Order deletion");
    orders.remove(id);
    return c.body(null, 204);
  });
}

/** What an order of a pair has to say, and what it may not. */
function requirePair(meta: JsonObject): void {
  const refuse = (why: string) =>
    keyError(400, "Bad Request", `Provided object does not match schema 'Order': ${why}. Invalid property: 'meta'`);
  if (meta["payload"] !== undefined) {
    if (meta["payload_content_type"] !== undefined) throw refuse("'payload' not allowed for asymmetric type order");
    const why = "If 'payload' is supplied, 'payload_content_type' must also be supplied.";
    const where = "Provided object does not match schema 'Secret' within 'Order'";
    throw keyError(400, "Bad Request", `${where}: ${why}. Invalid property: 'payload_content_type'`);
  }
  for (const name of ["algorithm", "bit_length"]) {
    if (!meta[name]) throw refuse(`'${name}' is required field for asymmetric key type order`);
  }
}

function requireLength(type: "key" | "asymmetric", meta: JsonObject): void {
  const bits = Number(meta["bit_length"]);
  if (Number.isInteger(bits) && bits > 0 && bits % 8 === 0 && bits <= 4096) return;
  const why = "Provided object does not match schema 'Type Order': Invalid property: 'meta.bit_length'";
  throw keyError(400, "Bad Request", type === "asymmetric" ? "Provided field value is not supported" : why);
}

/** What Barbican returns for an order without further options. */
const settled = { sub_status: "Unknown", sub_status_message: "Unknown" };

function orderView(c: Context, o: Order): object {
  return {
    created: o.created,
    updated: o.updated,
    status: o.status,
    type: o.type,
    meta: o.meta,
    creator_id: o.creator_id,
    ...(o.secret_id === undefined ? {} : { secret_ref: `${keyRoot(c)}/secrets/${o.secret_id}` }),
    ...(o.container_id === undefined
      ? {}
      : { container_ref: `${keyRoot(c)}/containers/${o.container_id}`, ...settled }),
    ...(o.error === undefined ? {} : { error_status_code: o.error.code, error_reason: o.error.reason }),
    order_ref: `${keyRoot(c)}/orders/${o.id}`,
  };
}
