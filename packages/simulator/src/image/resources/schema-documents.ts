import { htmlPage } from "../../kernel/html-page.ts";
import type { Service } from "../../kernel/interface.ts";
import { schemas } from "../rules/schemas.ts";

/** The JSON schemas of images, their members and metadata definitions. */
export function mountSchemas(app: Service["app"]): void {
  app.get("/v2/schemas/:name{.+}", (c) => {
    const schema = schemas[c.req.param("name")];
    if (!schema) throw htmlPage(404, {});
    return c.json(schema);
  });
}
