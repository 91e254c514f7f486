import { messageOf } from "@causeway/foundation";
import { isRecord, record, text, type Json } from "../../json/json.ts";
import { apiError } from "../../errors/status.ts";

/** A webhook could not be called, or returned an invalid response: what its failurePolicy is about. */
export class CallFailure extends Error {
  constructor(hook: string, why: string, cause?: unknown) {
    super(`failed calling webhook ${JSON.stringify(hook)}: ${why}`, { cause });
    this.name = "CallFailure";
  }
}

/** The 500 that kube-apiserver answers what went wrong inside with. */
export function internalError(error: unknown): Error {
  const message = messageOf(error);
  const details = { causes: [{ message }] };
  return apiError(
    500,
    "InternalError",
    `Internal error occurred: ${message}`,
    details as Parameters<typeof apiError>[3],
  );
}

/** The refusal of a webhook as the client receives it. */
export function denial(hook: string, result: unknown): Error {
  const { code, reason, message, details } = record(result);
  const explanation = text(message) || text(reason);
  const deniedBy = `admission webhook ${JSON.stringify(hook)} denied the request`;
  const status = typeof code === "number" && code >= 400 ? code : 400;
  const about = isRecord(details) ? (details as Json) : undefined;
  return apiError(
    status,
    text(reason),
    explanation ? `${deniedBy}: ${explanation}` : `${deniedBy} without explanation`,
    about,
  );
}
