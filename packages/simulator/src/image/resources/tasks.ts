import type { Context } from "hono";
import type { Caller, Kernel, Service } from "../../kernel/interface.ts";
import { htmlPage } from "../../kernel/html-page.ts";
import { textAt, type JsonObject } from "../../kernel/json.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import { ServiceError } from "../../kernel/service-error.ts";
import { taskStub, taskView, type Task, type TaskTable } from "../rules/task-model.ts";

type ImageEnv = { Variables: { caller: Caller } };

const path = "/v2/tasks";
const states = ["pending", "processing", "success", "failure"];
const types = ["import"];
const sortKeys = ["created_at", "expires_at", "id", "status", "type", "updated_at"];
const refused = (explanation: string): ServiceError => htmlPage(400, { explanation });

/** Tasks: https://docs.openstack.org/api-ref/image/v2/#tasks . For administrators only; imports of images make them. */
export function mountTasks(app: Service["app"], kernel: Pick<Kernel, "atomic">, tasks: TaskTable): void {
  const administer = (c: Context): void => {
    if (c.get("caller").isAdmin) return;
    throw htmlPage(403, { explanation: "You are not authorized to complete tasks_api_access action." });
  };
  mountResource<ImageEnv, Task>(app, kernel, {
    path,
    many: "tasks",
    permit(c, verb) {
      if (verb !== "delete") administer(c);
    },
    find(c, verb) {
      if (verb === "delete") throw notDeleted();
      const task = tasks.get(c.req.param("id") ?? "");
      if (!task) throw htmlPage(404, { explanation: `Could not find task ${c.req.param("id") ?? ""}` });
      return task;
    },
    respondList(c) {
      const { searchParams: query } = new URL(c.req.url);
      const { page, more } = pageOf(tasks.all(), query);
      const kept = new URLSearchParams([...query].filter(([name]) => name !== "marker"));
      const next = new URLSearchParams([...kept, ["marker", page.at(-1)?.id ?? ""]]);
      return c.json({
        tasks: page.map(taskStub),
        first: kept.size === 0 ? path : `${path}?${kept.toString()}`,
        schema: "/v2/schemas/tasks",
        ...(more ? { next: `${path}?${next.toString()}` } : {}),
      });
    },
    view: (_c, task) => ({ ...taskView(task) }),
    create: (_c, given) => {
      throw refusedImport(given);
    },
    // The real service has the route, and permits it to no user.
    remove: () => {
      throw notDeleted();
    },
  });
}

function refusedImport(given: JsonObject): ServiceError {
  const missing = ["type", "input"].find((field) => given[field] === undefined);
  if (missing !== undefined) return refused(`Task '${missing}' is required`);
  const from = textAt(given, "input", "import_from");
  if (from === undefined) return refused("Invalid location: None");
  if (!/^https?:/.test(from)) {
    const why = "Please specify a valid uri from the following list of supported uri ['http']";
    return refused(`The given uri is not valid. ${why}`);
  }
  return refused(`URI for legacy import task does not pass filtering: ${from}`);
}

function notDeleted(): ServiceError {
  const why =
    "This operation is currently not permitted on Glance Tasks. They are auto deleted after reaching the time";
  const { body, headers } = htmlPage(405, { explanation: `${why} based on their expires_at property.` });
  return new ServiceError(405, String(body).replace(/<br \/><br \/>\n\n\n/, ""), { ...headers, allow: "GET" });
}

const isId = (text: string): boolean => /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(text);

/** Newest first, or as the query says. Throws 400 for a wrong filter, order, limit or marker. */
/** Glance takes these and ignores them. */
const unfiltered: readonly string[] = ["limit", "marker", "sort_key", "sort_dir", "self", "schema"];

function pageOf(all: readonly Task[], query: URLSearchParams): { page: readonly Task[]; more: boolean } {
  checkQuery(query);
  const filters = [...query].filter(([name]) => !unfiltered.includes(name));
  const shown = (task: Task) => taskView(task) as Readonly<Record<string, unknown>>;
  const found = all.filter((task) => filters.every(([name, value]) => shown(task)[name] === value));
  const key = query.get("sort_key") ?? "created_at";
  const sign = query.get("sort_dir") === "asc" ? 1 : -1;
  const text = (task: Task) => `${String(shown(task)[key] as string)} ${task.id}`;
  const ordered = found.toSorted((a, b) => (text(a) < text(b) ? -sign : sign));
  const marker = query.get("marker");
  const place = marker === null ? -1 : ordered.findIndex((task) => task.id === marker);
  if (marker !== null && place < 0) {
    throw refused(isId(marker) ? `Task with the given id ${marker} was not found` : "Invalid marker format");
  }
  const limit = Math.min(Number(query.get("limit") ?? 25), 1000);
  const page = ordered.slice(place + 1, place + 1 + limit);
  return { page, more: page.length > 0 && page.length === limit };
}

function checkQuery(query: URLSearchParams): void {
  const [status, type, limit] = [query.get("status"), query.get("type"), query.get("limit")];
  const [key, direction] = [query.get("sort_key"), query.get("sort_dir")];
  if (limit !== null && !/^\d+$/.test(limit)) {
    throw refused(`limit param must be ${/^-\d+$/.test(limit) ? "positive" : "an integer"}`);
  }
  if (direction !== null && !["asc", "desc"].includes(direction)) throw refused(`Invalid sort direction: ${direction}`);
  if (status !== null && !states.includes(status)) throw refused(`Invalid status value: ${status}`);
  if (type !== null && !types.includes(type)) throw refused(`Invalid type value: ${type}`);
  if (key !== null && !sortKeys.includes(key)) throw refused("Sort key supplied was not valid.");
}
