package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

var electionChecks = []check{
	{"leader election: one of two leads, and the other when the first steps down", electionReleased},
	{"leader election: the second leads when the first is gone without a word", electionExpired},
}

// contend runs for leader until the context ends; `leads` gets the name each time it wins.
func contend(ctx context.Context, e *env, name string, release bool, leads chan<- string) error {
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: e.namespace, Name: "leader"},
		Client:     e.client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: name},
	}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, ReleaseOnCancel: release, Name: name,
		LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 200 * time.Millisecond,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { leads <- name },
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return err
	}
	go elector.Run(ctx)
	return nil
}

func election(e *env, release bool) error {
	leads := make(chan string, 4)
	first, endFirst := context.WithCancel(e)
	defer endFirst()
	second, endSecond := context.WithCancel(e)
	defer endSecond()
	if err := contend(first, e, "first", release, leads); err != nil {
		return err
	}
	if err := expect(<-leads == "first", "not the first"); err != nil {
		return err
	}
	if err := contend(second, e, "second", release, leads); err != nil {
		return err
	}
	select {
	case name := <-leads:
		return fmt.Errorf("%s leads next to the first", name)
	case <-time.After(time.Second):
	}
	endFirst()
	select {
	case name := <-leads:
		if name != "second" {
			return fmt.Errorf("%s leads", name)
		}
	case <-time.After(20 * time.Second):
		return fmt.Errorf("no other candidate took over")
	}
	lease, err := e.client.CoordinationV1().Leases(e.namespace).Get(e, "leader", metav1.GetOptions{})
	if err != nil {
		return err
	}
	return expect(*lease.Spec.HolderIdentity == "second" && *lease.Spec.LeaseTransitions >= 1, "lease %v", lease.Spec)
}

func electionReleased(e *env) error { return election(e, true) }

func electionExpired(e *env) error { return election(e, false) }
