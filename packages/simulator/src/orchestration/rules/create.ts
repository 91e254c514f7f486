import type { Ask } from "../../kernel/ask.ts";
import type { Caller } from "../../kernel/interface.ts";
import { at, isObject, textAt, type JsonObject } from "../../kernel/json.ts";
import { stackError, type Stack, type StackParts, type StackResource } from "../model.ts";

interface Maker {
  readonly service: string;
  readonly path: string;
  readonly kind: string;
  /** Properties of the template that its service calls by another name. */
  readonly names: Readonly<Record<string, string>>;
}

/** Resource types that templates may have; those of Magnum's driver are adopted instead. */
const makers: Readonly<Record<string, Maker>> = {
  "OS::Neutron::Net": { service: "network", path: "/v2.0/networks", kind: "network", names: {} },
  "OS::Neutron::Port": {
    service: "network",
    path: "/v2.0/ports",
    kind: "port",
    names: { network: "network_id" },
  },
};
const GROUP = "OS::Heat::ResourceGroup";
const MOST_IN_GROUP = 100;

const invalid = (message: string) => stackError(400, "StackValidationFailed", message);

/**
 * Makes a stack from a template of networks, ports and groups of them, in the order in which they refer to each other.
 */
export async function createStack(parts: StackParts, ask: Ask, caller: Caller, body: JsonObject): Promise<Stack> {
  const template = templateOf(body["template"]);
  const made = await makeResources({ parts, ask, caller, name: textAt(body, "stack_name") ?? "" }, template);
  const { kernel, stacks } = parts;
  const parameters = at(body, "parameters");
  const stack = stacks.insert({
    id: kernel.newId(),
    name: textAt(body, "stack_name") ?? "",
    project_id: caller.projectId,
    user_id: caller.userId,
    owner_id: null,
    parent_resource: null,
    status: "CREATE_COMPLETE",
    reason: "Stack CREATE completed successfully",
    tags: null,
    parameters: isObject(parameters) ? parameters : {},
    template: { ...template, outputs: outputsOf(template, made) },
    resources: made,
    created: kernel.timestamp(),
    updated: null,
  });
  for (const { isNested, physicalId, name } of made)
    if (isNested) stacks.update(physicalId, { owner_id: stack.id, parent_resource: name });
  return stack;
}

interface CreateContext {
  readonly parts: StackParts;
  readonly ask: Ask;
  readonly caller: Caller;
  readonly name: string;
}

async function makeResources(making: CreateContext, template: JsonObject): Promise<StackResource[]> {
  const entries = Object.entries(at(template, "resources") ?? {}) as [string, JsonObject][];
  const made = new Map<string, StackResource>();
  for (let left = entries; left.length > 0;) {
    const ready = left.filter(([, one]) => referred(one).every((name) => made.has(name)));
    if (ready.length === 0) throw invalid("The specified reference is incorrect or circular.");
    for (const [name, one] of ready) made.set(name, await make(making, name, resolved(one, made)));
    left = left.filter(([name]) => !made.has(name));
  }
  return entries.map(([name]) => ({
    ...(made.get(name) as StackResource),
    requiredBy: entries.filter(([, one]) => referred(one).includes(name)).map(([other]) => other),
  }));
}

async function make(making: CreateContext, name: string, given: JsonObject): Promise<StackResource> {
  const type = textAt(given, "type") ?? "";
  const properties = at(given, "properties");
  const state = { name, type, status: "CREATE_COMPLETE", reason: "state changed" };
  if (type === GROUP)
    return {
      ...state,
      isNested: true,
      physicalId: await makeGroup(making, name, isObject(properties) ? properties : {}),
    };
  const maker = makers[type];
  if (!maker) throw invalid(`The Resource Type (${type}) could not be found.`);
  const { service, path, kind, names } = maker;
  const fields = Object.entries(isObject(properties) ? properties : {}).map(([key, value]) => [
    names[key] ?? key,
    value,
  ]);
  const reply = await making.ask(service, {
    caller: making.caller,
    method: "POST",
    path,
    body: { [kind]: Object.fromEntries(fields) as JsonObject },
  });
  const id = textAt(reply.body, kind, "id");
  if (id === undefined) throw invalid(`Resource CREATE failed: ${name}: status ${reply.status}`);
  return { ...state, isNested: false, physicalId: id };
}

/** A stack of its own, whose resources are called by numbers. */
async function makeGroup(making: CreateContext, name: string, properties: JsonObject): Promise<string> {
  const { kernel, stacks } = making.parts;
  const count = Math.min(Number(properties["count"] ?? 1), MOST_IN_GROUP);
  const definition = isObject(properties["resource_def"]) ? properties["resource_def"] : {};
  const numbered = Object.fromEntries(Array.from({ length: count }, (_, index) => [String(index), definition]));
  const template = { heat_template_version: "2018-08-31", resources: numbered };
  const id = kernel.newId();
  const resources = await makeResources(making, template);
  stacks.insert({
    id,
    name: `${making.name}-${name}-${id.slice(0, 12)}`,
    project_id: making.caller.projectId,
    user_id: making.caller.userId,
    owner_id: id,
    parent_resource: name,
    status: "CREATE_COMPLETE",
    reason: "Stack CREATE completed successfully",
    tags: null,
    parameters: {},
    template,
    resources,
    created: kernel.timestamp(),
    updated: null,
  });
  return id;
}

function templateOf(given: unknown): JsonObject {
  if (isObject(given)) return given;
  try {
    const parsed = JSON.parse(typeof given === "string" ? given : "") as unknown;
    if (isObject(parsed)) return parsed;
  } catch {
    // Reported below.
  }
  throw stackError(400, "HTTPBadRequest", "No template specified; the simulated Heat reads templates as JSON.");
}

/** Names that get_resource refers to, at any depth. */
function referred(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referred);
  if (!isObject(value)) return [];
  const name = value["get_resource"];
  return typeof name === "string" ? [name] : Object.values(value).flatMap(referred);
}

function resolved<T>(value: T, made: ReadonlyMap<string, StackResource>): T {
  if (Array.isArray(value)) return value.map((one: unknown) => resolved(one, made)) as T;
  if (!isObject(value)) return value;
  const name = value["get_resource"];
  if (typeof name === "string") return (made.get(name)?.physicalId ?? "") as T;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, resolved(one, made)])) as T;
}

/** Heat keeps the template as it was given; what outputs are is kept next to it. */
function outputsOf(template: JsonObject, made: readonly StackResource[]): JsonObject {
  const outputs = at(template, "outputs");
  if (!isObject(outputs)) return {};
  const all = new Map(made.map((one) => [one.name, one]));
  const entries = Object.entries(outputs).map(([key, one]) => [
    key,
    isObject(one) ? { ...one, resolved: resolved(one["value"] ?? null, all) } : one,
  ]);
  return Object.fromEntries(entries) as JsonObject;
}
