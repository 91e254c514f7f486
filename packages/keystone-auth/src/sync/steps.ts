/** What one synchronisation does to the cluster. */
export type Step =
  | { readonly type: "create-namespace"; readonly name: string; readonly projectId: string }
  | {
      readonly type: "create-binding";
      readonly namespace: string;
      readonly name: string;
      readonly role: string;
      readonly username: string;
    }
  | { readonly type: "delete-binding"; readonly namespace: string; readonly name: string; readonly uid: string };
