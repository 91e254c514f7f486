import type { Kernel, Table } from "../kernel/interface.ts";
import type { JsonObject } from "../kernel/json.ts";
import { ServiceError } from "../kernel/service-error.ts";

/** A resource of a stack, and where it is in the cloud. */
export interface StackResource {
  readonly name: string;
  readonly type: string;
  /** The id in its service; of a resource with a stack of its own, that stack's id. */
  readonly physicalId: string;
  readonly status: string;
  readonly reason: string;
  readonly isNested: boolean;
  /** Resources of the stack that refer to it. */
  readonly requiredBy?: readonly string[];
}

/** A stack as it is kept. The outputs of its template have their values, as `resolved`. */
export interface Stack {
  readonly id: string;
  readonly name: string;
  readonly project_id: string;
  readonly user_id: string;
  /** The stack that it is nested in, and the resource of it that it is. */
  readonly owner_id: string | null;
  readonly parent_resource: string | null;
  readonly status: string;
  readonly reason: string;
  readonly tags: readonly string[] | null;
  readonly parameters: JsonObject;
  readonly template: JsonObject;
  readonly resources: readonly StackResource[];
  readonly created: string;
  readonly updated: string | null;
}

/** What Heat's routes work with. */
export interface StackParts {
  readonly kernel: Kernel;
  readonly stacks: Table<Stack>;
  /** Deleted and abandoned ones: Heat still reads them by name and id. */
  readonly gone: Table<Stack>;
}

/** The stacks that exist, nested ones included. */
export const stackTable = (kernel: Kernel): Table<Stack> => kernel.table("stack", ["project_id", "name", "owner_id"]);

/** Deleted and abandoned stacks. */
export const goneTable = (kernel: Kernel): Table<Stack> => kernel.table("_stack_gone");

const titles: Readonly<Record<number, string>> = {
  400: "Bad Request",
  403: "Forbidden",
  404: "Not Found",
  409: "Conflict",
};

const BAD_REQUEST = "The server could not comply with the request since it is either malformed or otherwise incorrect.";
const explanations: Readonly<Record<number, string>> = {
  404: "The resource could not be found.",
  409: "There was a conflict when trying to complete your request.",
};

/** An error with Heat's body. */
export function stackError(code: number, type: string, message: string): ServiceError {
  const title = titles[code] ?? "Error";
  const explanation = explanations[code] ?? BAD_REQUEST;
  return new ServiceError(code, { code, title, explanation, error: { message, traceback: null, type } });
}

/** Heat's 404. */
export const missingStack = (name: string): ServiceError =>
  stackError(404, "EntityNotFound", `The Stack (${name}) could not be found.`);

/** A stack and all that are nested in it, the outermost first. */
export function stackTree(stacks: Table<Stack>, stack: Stack): Stack[] {
  const tree = [stack];
  for (let at = 0; at < tree.length; at += 1) {
    const { id } = tree[at] as Stack;
    tree.push(...stacks.by("owner_id", id));
  }
  return tree;
}
