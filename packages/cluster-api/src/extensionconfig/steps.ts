/** Nothing is written but the status. */
export type ExtensionStep = never;
