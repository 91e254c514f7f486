import type { ExtensionConfig, ExtensionConfigStatus } from "@causeway/api";

/** What the extension returned for discovery, or why it did not. */
export type Discovery =
  | { readonly handlers: NonNullable<ExtensionConfigStatus["handlers"]> }
  | { readonly problem: string };

/** All that the planner of ExtensionConfigs reads. */
export interface Observed {
  readonly config: ExtensionConfig;
  /** Undefined: it is not called now. */
  readonly discovery: Discovery | undefined;
}
