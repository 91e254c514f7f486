import { randomBytes } from "node:crypto";
import type { Context } from "hono";
import type { Caller, Service } from "../kernel/interface.ts";
import { at, bodyOf, isObject, textAt } from "../kernel/json.ts";
import { instantOf, keyError, owned, permit, refusal, type KeyParts, type Order } from "./model.ts";
import { keyRoot, pageOf } from "./pages.ts";

type Asking = Context<{ Variables: { caller: Caller } }>;

/** Orders of new symmetric keys. */
export function addOrderRoutes(app: Service["app"], { kernel, tables }: KeyParts): void {
  const { orders, secrets } = tables;
  /** Orders of other projects are not there; who may not work with secrets is refused. */
  const mine = (c: Asking, doing: string) => {
    const order = orders.get(c.req.param("id") ?? "");
    const seen = order?.project_id === c.get("caller").projectId ? order : undefined;
    return owned(seen, c.get("caller"), { what: "Order", doing });
  };
  app.get("/v1/orders", (c) => {
    permit(c.get("caller"), "Order(s) retrieval");
    return pageOf(c, "orders", orders.by("project_id", c.get("caller").projectId), (o) => orderView(c, o));
  });
  app.on("POST", ["/v1/orders", "/v1/orders/"], async (c) => {
    permit(c.get("caller"), "Order creation");
    const given = await bodyOf(c.req);
    const [type, meta] = [textAt(given, "type"), at(given, "meta")];
    if (type !== undefined && !["key", "asymmetric", "certificate"].includes(type)) {
      const why = `'${type}' is not one of ['key', 'asymmetric', 'certificate']. Invalid property: 'type'`;
      throw keyError(400, "Bad Request", `Provided object does not match schema 'Order': ${why}`);
    }
    if (type !== "key" || !isObject(meta)) {
      throw keyError(
        400,
        "Bad Request",
        "Provided object does not match schema 'Order': orders of type key are taken here.",
      );
    }
    const bits = Number(meta["bit_length"]);
    if (!Number.isInteger(bits) || bits <= 0 || bits % 8 !== 0 || bits > 4096) {
      throw keyError(
        400,
        "Bad Request",
        "Provided object does not match schema 'Type Order': Invalid property: 'meta.bit_length'",
      );
    }
    const { projectId: project_id, userId: creator_id } = c.get("caller");
    const times = { created: instantOf(kernel), updated: instantOf(kernel) };
    const secret_id = kernel.newId();
    const id = kernel.newId();
    kernel.atomic(() => {
      secrets.insert({
        id: secret_id,
        name: textAt(meta, "name") ?? null,
        project_id,
        creator_id,
        secret_type: "symmetric",
        algorithm: textAt(meta, "algorithm") ?? null,
        bit_length: bits,
        mode: textAt(meta, "mode") ?? null,
        expiration: null,
        content_type: "application/octet-stream",
        base64: randomBytes(bits / 8).toString("base64"),
        ...times,
      });
      orders.insert({ id, project_id, creator_id, type, status: "ACTIVE", secret_id, meta, ...times });
    });
    const order_ref = `${keyRoot(c)}/orders/${id}`;
    return c.json({ order_ref }, 202, { location: order_ref });
  });
  app.get("/v1/orders/:id", (c) => c.json(orderView(c, mine(c, "Order retrieval"))));
  app.delete("/v1/orders/:id", (c) => {
    const { id } = mine(c, "Order deletion");
    // Whoever may order is not who may take an order away.
    if (!c.get("caller").roles.includes("admin")) throw refusal("Order deletion");
    orders.remove(id);
    return c.body(null, 204);
  });
}

function orderView(c: Context, o: Order): object {
  return {
    created: o.created,
    updated: o.updated,
    status: o.status,
    type: o.type,
    meta: o.meta,
    creator_id: o.creator_id,
    secret_ref: `${keyRoot(c)}/secrets/${o.secret_id}`,
    order_ref: `${keyRoot(c)}/orders/${o.id}`,
  };
}
