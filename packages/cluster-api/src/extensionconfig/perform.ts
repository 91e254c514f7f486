import type { ExtensionStep } from "./steps.ts";

/** There is no step: all that is known of an extension is its status. */
export function perform(step: ExtensionStep): Promise<void> {
  return Promise.resolve(step);
}
