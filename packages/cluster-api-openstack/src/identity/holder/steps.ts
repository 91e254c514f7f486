/** The finalizer that keeps a Secret, and its removal. */
export type Step = { readonly type: "hold" } | { readonly type: "release" };
