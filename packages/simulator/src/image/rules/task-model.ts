import type { Kernel, Table } from "../../kernel/interface.ts";

/** Work on an image that continues after the response to its request. */
export interface Task {
  readonly id: string;
  readonly image_id: string;
  readonly type: "api_image_import";
  readonly status: "pending" | "processing" | "success" | "failure";
  readonly owner: string;
  readonly user_id: string;
  readonly request_id: string;
  readonly input: unknown;
  readonly result: unknown;
  readonly message: string;
  readonly created_at: string;
  readonly updated_at: string;
  /** null: not over yet. */
  readonly expires_at: string | null;
}

/** The tasks, found by their image. */
export type TaskTable = Table<Task>;

/** The kernel's table of tasks; internal, so the inventory does not list it. */
export const taskTable = (kernel: Kernel): TaskTable => kernel.table("_image_task", ["image_id"]);

/** What a list says of a task. */
export function taskStub({ id, type, status, owner, created_at, updated_at, expires_at }: Task): object {
  const self = `/v2/tasks/${id}`;
  const expiry = expires_at === null ? {} : { expires_at };
  return { id, type, status, owner, created_at, updated_at, self, schema: "/v2/schemas/task", ...expiry };
}

/** A task as a whole. */
export function taskView(task: Task): object {
  const { input, message, result, image_id, request_id, user_id } = task;
  return { ...taskStub(task), input, message, result, image_id, user_id, ...(request_id === "" ? {} : { request_id }) };
}
