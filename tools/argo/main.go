// The application controller and the repository server of the release of Argo CD in go.mod, and a Redis for them: what
// `npm run test:programs -- argo` runs. Their mains are upstream's commands; only the user interface is left out.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/alicebob/miniredis/v2"
	controller "github.com/argoproj/argo-cd/v3/cmd/argocd-application-controller/commands"
	reposerver "github.com/argoproj/argo-cd/v3/cmd/argocd-repo-server/commands"
	"github.com/spf13/cobra"
)

// redis serves on an address. miniredis counts time to live by a clock of its own.
func redis(address string) error {
	server := miniredis.NewMiniRedis()
	if err := server.StartAddr(address); err != nil {
		return err
	}
	for range time.Tick(time.Second) {
		server.FastForward(time.Second)
	}
	return nil
}

func main() {
	root := &cobra.Command{Use: "argo", SilenceUsage: true}
	root.AddCommand(controller.NewCommand(), reposerver.NewCommand(), &cobra.Command{
		Use:  "redis ADDRESS",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return redis(args[0]) },
	})
	if err := root.Execute(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
