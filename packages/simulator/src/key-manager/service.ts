import { Hono, type Context } from "hono";
import type { Kernel, Service } from "../kernel/interface.ts";
import { addAccessRoutes } from "./access.ts";
import { addConsumerRoutes } from "./consumers.ts";
import { addContainerRoutes, addContainerSecretRoutes } from "./containers.ts";
import { addMetadataRoutes } from "./metadata.ts";
import { keyError, keyTables, type KeyParts } from "./model.ts";
import { addOrderRoutes } from "./orders.ts";
import { addSecretRoutes } from "./secrets.ts";

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
  addSecretRoutes(app, parts);
  addMetadataRoutes(app, parts);
  addContainerRoutes(app, parts);
  addContainerSecretRoutes(app, parts);
  addOrderRoutes(app, parts);
  addConsumerRoutes(app, parts);
  addAccessRoutes(app, parts);
  // Certificate authorities need a plug-in, which is off.
  app.all("/v1/cas", () => {
    throw keyError(404, "Not Found", "");
  });
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
