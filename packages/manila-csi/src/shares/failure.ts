import { CausewayError } from "@causeway/foundation";
import type { ShareCloud } from "./connections.ts";

/** Details of Manila's user messages, and the error that upstream makes of each. */
const CODES: Readonly<Record<string, FailureCode>> = {
  "002": "CSI_OUT_OF_RANGE",
  "003": "CSI_INVALID_ARGUMENT",
  "007": "CSI_RESOURCE_EXHAUSTED",
  "008": "CSI_INVALID_ARGUMENT",
  "009": "CSI_OUT_OF_RANGE",
};

/** The errors that a failure in Manila becomes. */
export type FailureCode = "CSI_OUT_OF_RANGE" | "CSI_INVALID_ARGUMENT" | "CSI_RESOURCE_EXHAUSTED" | "CSI_INTERNAL";

/** Why Manila could not do something that it accepted. */
export interface Failure {
  readonly code: FailureCode;
  readonly message: string;
}

const LONGEST = 500;

/** The newest error message of a share or snapshot. */
export async function lastFailure({ manila }: ShareCloud, id: string, signal: AbortSignal): Promise<Failure> {
  const query = { resource_id: id, message_level: "ERROR", limit: 1, sort_key: "created_at", sort_dir: "desc" };
  for await (const message of manila.userMessages.list(query, { signal })) {
    return failureOf(message.detail_id, message.user_message);
  }
  return { code: "CSI_INTERNAL", message: "Manila has no message that says why" };
}

/** A failure from a user message of Manila: `detail` is its detail_id, such as "002". */
export function failureOf(detail: string, message: string): Failure {
  return { code: CODES[detail] ?? "CSI_INTERNAL", message: message.slice(0, LONGEST) };
}

/** The error of a call. `what` says what failed, and what became of the object. */
export function failed(what: string, { code, message }: Failure): CausewayError {
  const text = `${what}: ${message}.`;
  switch (code) {
    case "CSI_OUT_OF_RANGE":
      return new CausewayError("CSI_OUT_OF_RANGE", text);
    case "CSI_INVALID_ARGUMENT":
      return new CausewayError("CSI_INVALID_ARGUMENT", text);
    case "CSI_RESOURCE_EXHAUSTED":
      return new CausewayError("CSI_RESOURCE_EXHAUSTED", text);
    case "CSI_INTERNAL":
      return new CausewayError("CSI_INTERNAL", text);
  }
}
