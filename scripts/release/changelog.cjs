/** How changesets writes an entry: the summary alone. Versions of our own packages move together, so none is an entry. */
module.exports = {
  getReleaseLine: async ({ summary }) => {
    const [first, ...rest] = summary.trim().split("\n");
    return [`- ${first}`, ...rest.map((line) => `  ${line}`.trimEnd())].join("\n");
  },
  getDependencyReleaseLine: async () => "",
};
