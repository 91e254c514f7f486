import type { Context } from "hono";
import type { Service } from "../kernel/interface.ts";
import { htmlPage } from "../kernel/html-page.ts";
import { at, bodyOf, textAt } from "../kernel/json.ts";
import { ServiceError } from "../kernel/service-error.ts";

const path = "/v2/tasks";
const states = ["pending", "processing", "success", "failure"];
const types = ["import", "api_image_import"];
const sortKeys = ["created_at", "expires_at", "id", "status", "type", "updated_at"];
const refused = (explanation: string): ServiceError => htmlPage(400, { explanation });

/**
 * Tasks: https://docs.openstack.org/api-ref/image/v2/#tasks . For administrators only. There are never any: nothing is fetched from
 * elsewhere here, so that the filter of what may be fetched lets nothing pass.
 */
export function addTaskRoutes(app: Service["app"]): void {
  const administer = (c: Context): void => {
    if (c.get("caller").isAdmin) return;
    throw htmlPage(403, { explanation: "You are not authorized to complete tasks_api_access action." });
  };
  app.get(path, (c) => {
    administer(c);
    const url = new URL(c.req.url);
    checkQuery(url.searchParams);
    return c.json({ tasks: [], first: `${path}${url.search}`, schema: "/v2/schemas/tasks" });
  });
  app.post(path, async (c) => {
    const body = await bodyOf(c.req);
    administer(c);
    for (const field of ["type", "input"]) {
      if (at(body, field) === undefined) throw refused(`Task '${field}' is required`);
    }
    const from = textAt(body, "input", "import_from");
    if (from === undefined) throw refused("Invalid location: None");
    if (!/^https?:/.test(from)) {
      const why = "Please specify a valid uri from the following list of supported uri ['http']";
      throw refused(`The given uri is not valid. ${why}`);
    }
    throw refused(`URI for legacy import task does not pass filtering: ${from}`);
  });
  app.get(`${path}/:id`, (c) => {
    administer(c);
    throw htmlPage(404, { explanation: `Could not find task ${c.req.param("id")}` });
  });
  app.delete(`${path}/:id`, () => {
    const why =
      "This operation is currently not permitted on Glance Tasks. They are auto deleted after reaching the time";
    const { body, headers } = htmlPage(405, { explanation: `${why} based on their expires_at property.` });
    throw new ServiceError(405, String(body).replace(/<br \/><br \/>\n\n\n/, ""), { ...headers, allow: "GET" });
  });
}

const isId = (text: string): boolean => /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(text);

function checkQuery(query: URLSearchParams): void {
  const [status, type, limit] = [query.get("status"), query.get("type"), query.get("limit")];
  const [key, direction, marker] = [query.get("sort_key"), query.get("sort_dir"), query.get("marker")];
  if (limit !== null && !/^\d+$/.test(limit)) {
    throw refused(`limit param must be ${/^-\d+$/.test(limit) ? "positive" : "an integer"}`);
  }
  if (direction !== null && !["asc", "desc"].includes(direction)) throw refused(`Invalid sort direction: ${direction}`);
  if (status !== null && !states.includes(status)) throw refused(`Invalid status value: ${status}`);
  if (type !== null && !types.includes(type)) throw refused(`Invalid type value: ${type}`);
  if (key !== null && !sortKeys.includes(key)) throw refused("Sort key supplied was not valid.");
  if (marker !== null)
    throw refused(isId(marker) ? `Task with the given id ${marker} was not found` : "Invalid marker format");
}
