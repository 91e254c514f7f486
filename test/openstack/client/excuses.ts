/** Commands whose answers may differ, and why. */
export const excuses: readonly { readonly why: string; readonly commands: readonly string[] }[] = [];
