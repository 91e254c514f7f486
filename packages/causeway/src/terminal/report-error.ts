import { styleText } from "node:util";
import { CausewayError, messageOf } from "@causeway/foundation";

/**
 * How commands end: 1 something failed, 2 the input was wrong and nothing was started, 3 the examined system has
 * problems, 130 interrupted.
 */
export const exitStatus = { failed: 1, usage: 2, findings: 3, interrupted: 130 } as const;

/** What a person sees of an error: what happened, what to do, and the code to search for. */
export function renderError(error: unknown): string {
  const lines = [`${styleText("red", "error:", { stream: process.stderr })} ${messageOf(error)}`];
  if (error instanceof CausewayError) {
    const cause = error.cause instanceof Error ? error.cause.message : undefined;
    if (cause !== undefined && !error.message.includes(cause)) lines.push(`  because: ${cause}`);
    if (error.hint !== undefined) lines.push(`  what to do: ${error.hint}`);
    lines.push(`  code: ${error.code}`);
  }
  return `${lines.join("\n")}\n`;
}

/** What an error says; 1 for errors without a code. */
export function exitStatusOf(error: unknown): number {
  return error instanceof CausewayError ? error.exitStatus : exitStatus.failed;
}
