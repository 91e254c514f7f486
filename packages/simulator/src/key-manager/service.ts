import { Hono, type Context } from "hono";
import type { Kernel, Service } from "../kernel/interface.ts";
import { mountAccess } from "./resources/access.ts";
import { mountCertificateAuthorities } from "./resources/certificate-authorities.ts";
import { mountConsumers } from "./resources/consumers.ts";
import { mountContainers, mountContainerSecrets } from "./resources/containers.ts";
import { mountMetadata } from "./resources/metadata.ts";
import { keyError, keyTables, type KeyParts } from "./model.ts";
import { mountOrders } from "./resources/orders.ts";
import { mountSecrets } from "./resources/secrets.ts";

/**
 * Barbican v1, https://docs.openstack.org/api-ref/key-manager/v1/ : secrets, containers, orders of keys and of pairs of
 * keys, what users note of secrets, lists of readers.
 */
export function createKeyManagerService(kernel: Kernel): Service {
  const parts: KeyParts = { kernel, tables: keyTables(kernel) };
  const app: Service["app"] = new Hono();
  app.get("/", (c) => c.json({ versions: { values: [version(c)] } }, 300));
  app.get("/v1", (c) => c.json({ version: version(c) }));
  app.get("/v1/", (c) => c.json({ version: version(c) }));
  app.use("/v1/*", async (c, next) => {
    await next();
    if (c.req.header("x-auth-token") !== undefined) c.res.headers.set("openstack-api-version", "key-manager 1.0");
  });
  mountSecrets(app, parts);
  mountMetadata(app, parts);
  mountContainers(app, parts);
  mountContainerSecrets(app, parts);
  mountOrders(app, parts);
  mountConsumers(app, parts);
  mountAccess(app, parts);
  mountCertificateAuthorities(app);
  app.all("*", () => {
    throw keyError(404, "Not Found", "Not Found. Sorry but your resource is in another castle.");
  });
  return { type: "key-manager", name: "barbican", catalogPath: "", open: ["", "/", "/v1", "/v1/"], app };
}

const version = (c: Context) => ({
  id: "v1",
  status: "stable",
  updated: "2015-04-28T00:00:00Z",
  links: [{ rel: "self", href: `${new URL(c.req.url).origin}/key-manager/v1/` }],
  "media-types": [{ base: "application/json", type: "application/vnd.openstack.key-manager-v1+json" }],
});
