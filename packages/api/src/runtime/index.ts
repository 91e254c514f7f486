export { ExtensionConfig, type ExtensionConfigSpec, type ExtensionConfigStatus } from "./extension-config.ts";
