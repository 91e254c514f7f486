import { picked } from "../../kernel/rest/listing.ts";
import { noPath } from "../errors.ts";
import { providers } from "../rules/providers.ts";
import type { BalancerApp } from "../kit/routes.ts";

/** The newest API minor that is served; v2.0 to v2.26 are listed, as clients choose features by it. */
const newest = 26;

/** Version documents and the lists that never change. */
export function mountDocuments(app: BalancerApp): void {
  app.get("/", (c) => {
    const href = `${c.req.url.replace(/\/?(\?.*)?$/, "")}/v2`;
    const versions = Array.from({ length: newest + 1 }, (_, minor) => ({
      id: `v2.${minor}`,
      status: minor === newest ? "CURRENT" : "SUPPORTED",
      updated: "2022-08-29T00:00:00Z",
      links: [{ href, rel: "self" }],
    }));
    return c.json({ versions });
  });
  app.on("GET", ["/v2", "/v2/", "/v2.0", "/v2.0/", "/v2/lbaas", "/v2.0/lbaas"], (c) => c.json("v2"));
  app.get("/:v{v2(?:\\.0)?}/lbaas/providers", (c) => {
    const fields = c.req.queries("fields") ?? [];
    const all = Object.entries(providers).map(([name, description]) => picked({ name, description }, fields));
    return c.json({ providers: all });
  });
  withoutPrefix(app);
  app.all("*", () => {
    throw noPath();
  });
}

/** What is served below /v2/lbaas is served below /v2, too. */
function withoutPrefix(app: BalancerApp): void {
  const below = app.routes.filter(({ path }) => path.includes("/lbaas/"));
  for (const { method, path, handler } of below) app.on(method, path.replace("/lbaas/", "/"), handler);
}
