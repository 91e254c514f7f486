import type { Context } from "hono";
import type { Caller } from "../../kernel/interface.ts";
import { missingStack, type Stack, type StackParts } from "../model.ts";

/** A request to Heat. */
export type StackContext = Context<{ Variables: { caller: Caller } }>;

/** Where links begin. */
export const rootOf = (c: StackContext): string => `${new URL(c.req.url).origin}/orchestration`;

/** The stack of a route; its name and its id have to agree, as in Heat. */
export function stackOf({ stacks }: StackParts, c: StackContext): Stack {
  const [name = "", id = ""] = [c.req.param("name"), c.req.param("id")];
  const stack = stacks.get(id);
  if (!stack || stack.project_id !== c.get("caller").projectId || stack.name !== name) throw missingStack(name);
  return stack;
}
