import type { ExtensionConfig, ExtensionConfigStatus } from "@causeway/api";

/** What the extension answered to discovery, or why it did not. */
export type Discovery =
  | { readonly handlers: NonNullable<ExtensionConfigStatus["handlers"]> }
  | { readonly problem: string };

/** All that the planner of ExtensionConfigs reads. */
export interface Observed {
  readonly config: ExtensionConfig;
  /** Undefined: it is not asked now. */
  readonly discovery: Discovery | undefined;
}
