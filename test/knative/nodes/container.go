package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// containerState is what the status of a pod says of one container.
type containerState struct {
	state, last    M
	ready, started bool
	final          bool // it does not run again
	restarts       int
	attempt        int
}

// An image is a root file system and how its program is started.
type image struct {
	root string
	Args []string
	Cwd  string
	Env  []string
}

var errNoImage = errors.New("not found")

func (k *kubelet) image(name string) (*image, error) {
	base, wanted, _ := strings.Cut(path.Base(name), "@")
	base, _, _ = strings.Cut(base, ":")
	if strings.Contains(name, "@") && wanted == "" {
		_, wanted, _ = strings.Cut(name, "@")
	}
	source := filepath.Join(k.images, base)
	info, err := os.Stat(source)
	if err != nil || wanted != "" && wanted != digest(base) {
		return nil, errNoImage
	}
	if info.IsDir() {
		i := &image{root: source}
		text, err := os.ReadFile(filepath.Join(source, "image.json"))
		if err != nil {
			return nil, err
		}
		return i, json.Unmarshal(text, i)
	}
	// As ko makes them.
	root := filepath.Join(k.state, "images", fmt.Sprintf("%s-%x", base, info.ModTime().UnixNano()))
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if _, err := os.Stat(root); err != nil {
		script := `mkdir -p $1.new/ko-app $1.new/etc $1.new/tmp $1.new/home/nonroot $1.new/var/run/ko && chmod 1777 $1.new/tmp &&
cp $2 $1.new/ko-app/$3 && chown 65532:65532 $1.new/home/nonroot &&
printf 'root:x:0:0:root:/root:/bin/false\nnonroot:x:65532:65532:nonroot:/home/nonroot:/bin/false\n' > $1.new/etc/passwd && mv $1.new $1`
		if err := command("sh", "-c", script, "sh", root, source, base); err != nil {
			return nil, err
		}
	}
	return &image{root: root, Args: []string{"/ko-app/" + base}, Cwd: "/home/nonroot", Env: []string{"KO_DATA_PATH=/var/run/ko"}}, nil
}

func (p *pod) id(c *container) string {
	return fmt.Sprintf("%s-%s-%d", p.meta.UID, c.Name, p.states[c.Name].attempt)
}

// supervise runs a container, and again if it is to be restarted. It returns the last exit code.
func (p *pod) supervise(c *container, restart string) int {
	backoff := 10 * time.Second
	for attempt := 0; ; {
		image, err := p.kubelet.image(c.Image)
		if err == nil {
			var environment []string
			if environment, err = p.environment(c); err == nil {
				err = p.create(c, image, environment, attempt)
			}
		}
		if err != nil {
			waiting := M{"reason": "CreateContainerConfigError", "message": err.Error()}
			if errors.Is(err, errNoImage) {
				waiting = M{"reason": "ErrImagePull", "message": fmt.Sprintf("failed to pull image %q: not found", c.Image)}
			}
			p.change(c, func(s *containerState) { s.state = M{"waiting": waiting} })
			if !p.sleep(3 * time.Second) {
				return 0
			}
			if errors.Is(err, errNoImage) {
				waiting = M{"reason": "ImagePullBackOff", "message": fmt.Sprintf("Back-off pulling image %q", c.Image)}
				p.change(c, func(s *containerState) { s.state = M{"waiting": waiting} })
				if !p.sleep(10 * time.Second) {
					return 0
				}
			}
			continue
		}
		started := now()
		code := p.execute(c, started)
		terminated := M{"exitCode": code, "reason": "Completed", "startedAt": started, "finishedAt": now(),
			"containerID": "crun://" + p.id(c), "message": p.terminationMessage(c, code)}
		if code != 0 {
			terminated["reason"] = "Error"
		}
		if code == 137 && c.Resources.Limits["memory"] != "" && !closed(p.stopping) {
			terminated["reason"] = "OOMKilled"
		}
		final := closed(p.stopping) || restart == "Never" || restart == "OnFailure" && code == 0
		p.change(c, func(s *containerState) {
			s.state, s.ready, s.started, s.final = M{"terminated": terminated}, false, false, final
		})
		if final {
			return code
		}
		if attempt > 0 {
			p.change(c, func(s *containerState) {
				s.last = M{"terminated": terminated}
				s.state = M{"waiting": M{"reason": "CrashLoopBackOff",
					"message": fmt.Sprintf("back-off %s restarting failed container=%s", backoff, c.Name)}}
			})
			if !p.sleep(backoff) {
				return code
			}
			backoff = min(2*backoff, 5*time.Minute)
		}
		attempt++
		p.change(c, func(s *containerState) {
			s.last, s.attempt, s.restarts = M{"terminated": terminated}, attempt, attempt
		})
	}
}

func (p *pod) terminationMessage(c *container, code int) string {
	text, _ := os.ReadFile(filepath.Join(p.folder, c.Name+".termination"))
	if len(text) == 0 && code != 0 && c.TerminationMessagePolicy == "FallbackToLogsOnError" {
		text, _ = os.ReadFile(filepath.Join(p.folder, c.Name+".log"))
		text = text[max(0, len(text)-2048):]
	}
	return string(text[:min(4096, len(text))])
}

var reference = regexp.MustCompile(`\$\$|\$\(([^()]+)\)`)

// expand replaces $(NAME) with the value of a variable, where there is one.
func expand(text string, values map[string]string) string {
	return reference.ReplaceAllStringFunc(text, func(match string) string {
		if match == "$$" {
			return "$"
		}
		if value, found := values[match[2:len(match)-1]]; found {
			return value
		}
		return match
	})
}

func (p *pod) environment(c *container) ([]string, error) {
	values := map[string]string{}
	var names []string
	set := func(name, value string) {
		if _, found := values[name]; !found {
			names = append(names, name)
		}
		values[name] = value
	}
	set("KUBERNETES_SERVICE_HOST", p.kubelet.objects.service("default/kubernetes").Spec.ClusterIP)
	set("KUBERNETES_SERVICE_PORT", "443")
	set("HOSTNAME", p.meta.Name)
	for _, from := range c.EnvFrom {
		kind, ref := "configmaps", from.ConfigMapRef
		if ref == nil {
			kind, ref = "secrets", from.SecretRef
		}
		data, err := p.data(kind, ref.Name, ref.Optional)
		if err != nil {
			return nil, err
		}
		for key, value := range data {
			set(from.Prefix+key, string(value))
		}
	}
	one := func(kind string, ref *keyRef) (string, bool, error) {
		data, err := p.data(kind, ref.Name, ref.Optional)
		value, found := data[ref.Key]
		if err == nil && !found && !ref.Optional {
			err = fmt.Errorf("%s %s has no key %s", kind, ref.Name, ref.Key)
		}
		return string(value), found, err
	}
	for _, e := range c.Env {
		from := e.ValueFrom
		if from == nil {
			set(e.Name, expand(e.Value, values))
			continue
		}
		value, found, err := "", true, error(nil)
		switch {
		case from.FieldRef != nil:
			value = p.field(from.FieldRef.FieldPath)
		case from.SecretKeyRef != nil:
			value, found, err = one("secrets", from.SecretKeyRef)
		case from.ConfigMapKeyRef != nil:
			value, found, err = one("configmaps", from.ConfigMapKeyRef)
		case from.ResourceFieldRef != nil:
			of, name, _ := strings.Cut(from.ResourceFieldRef.Resource, ".")
			amount := c.Resources.Limits[name]
			if of == "requests" {
				amount = c.Resources.Requests[name]
			}
			value = strconv.FormatInt(int64(quantity(amount)+0.999), 10)
		}
		if err != nil {
			return nil, err
		}
		if found {
			set(e.Name, value)
		}
	}
	for i, arg := range c.Args {
		c.Args[i] = expand(arg, values)
	}
	var list []string
	for _, name := range names {
		list = append(list, name+"="+values[name])
	}
	return list, nil
}

var units = map[string]float64{"m": 1e-3, "": 1, "k": 1e3, "M": 1e6, "G": 1e9, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}

func quantity(text string) float64 {
	number := strings.TrimRight(text, "mkKMGi")
	value, _ := strconv.ParseFloat(number, 64)
	return value * units[text[len(number):]]
}

var capabilities = []string{"CHOWN", "DAC_OVERRIDE", "FSETID", "FOWNER", "MKNOD", "NET_RAW", "SETGID", "SETUID", "SETFCAP",
	"SETPCAP", "NET_BIND_SERVICE", "SYS_CHROOT", "KILL", "AUDIT_WRITE"}

// create writes the bundle of a container, with a root file system of its own.
func (p *pod) create(c *container, image *image, environment []string, attempt int) error {
	bundle := filepath.Join(p.folder, c.Name)
	root := filepath.Join(bundle, "rootfs")
	_ = syscall.Unmount(root, syscall.MNT_DETACH)
	_ = os.RemoveAll(bundle)
	for _, folder := range []string{"rootfs", "upper", "work"} {
		if err := os.MkdirAll(filepath.Join(bundle, folder), 0o755); err != nil {
			return err
		}
	}
	if err := syscall.Mount("overlay", root, "overlay", 0, fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", image.root,
		filepath.Join(bundle, "upper"), filepath.Join(bundle, "work"))); err != nil {
		return err
	}
	mounts := []M{
		{"destination": "/proc", "type": "proc", "source": "proc"},
		{"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": []string{"nosuid", "strictatime", "mode=755", "size=65536k"}},
		{"destination": "/dev/pts", "type": "devpts", "source": "devpts",
			"options": []string{"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"}},
		{"destination": "/dev/shm", "type": "tmpfs", "source": "shm", "options": []string{"nosuid", "noexec", "nodev", "mode=1777", "size=65536k"}},
		{"destination": "/dev/mqueue", "type": "mqueue", "source": "mqueue", "options": []string{"nosuid", "noexec", "nodev"}},
		{"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": []string{"nosuid", "noexec", "nodev", "ro"}},
		{"destination": "/sys/fs/cgroup", "type": "cgroup", "source": "cgroup", "options": []string{"nosuid", "noexec", "nodev", "relatime", "ro"}},
	}
	bind := func(source, destination, mode string) {
		mounts = append(mounts, M{"destination": destination, "type": "bind", "source": source, "options": []string{"rbind", mode}})
	}
	file := func(name, content, destination string) error {
		target := filepath.Join(bundle, name)
		bind(target, destination, "rw")
		if err := os.WriteFile(target, []byte(content), 0o644); err != nil {
			return err
		}
		return os.Chmod(target, 0o644)
	}
	termination := filepath.Join(p.folder, c.Name+".termination")
	bind(termination, c.TerminationMessagePath, "rw")
	err := errors.Join(
		file("resolv.conf", fmt.Sprintf("search %[1]s.svc.%[2]s svc.%[2]s %[2]s\nnameserver %[3]s\noptions ndots:5\n",
			p.meta.Namespace, domain, hostIP), "/etc/resolv.conf"),
		file("hosts", fmt.Sprintf("127.0.0.1 localhost\n%s %s\n", p.address, p.meta.Name), "/etc/hosts"),
		os.WriteFile(termination, nil, 0o666), os.Chmod(termination, 0o666))
	if err != nil {
		return err
	}
	for _, m := range c.VolumeMounts {
		mode := "rw"
		if m.ReadOnly {
			mode = "ro"
		}
		bind(filepath.Join(p.folder, "volumes", m.Name, m.SubPath), m.MountPath, mode)
	}
	user := M{"uid": 65532, "gid": 65532}
	for _, s := range []securityContext{p.object.Spec.SecurityContext, c.SecurityContext} {
		if s.RunAsUser != nil {
			user = M{"uid": *s.RunAsUser, "gid": 0}
		}
		if s.RunAsGroup != nil {
			user["gid"] = *s.RunAsGroup
		}
	}
	granted := []string{}
	for _, name := range append(append([]string{}, capabilities...), c.SecurityContext.Capabilities.Add...) {
		kept := true
		for _, drop := range c.SecurityContext.Capabilities.Drop {
			kept = kept && drop != name && drop != "ALL"
		}
		for _, add := range c.SecurityContext.Capabilities.Add {
			kept = kept || add == name
		}
		if kept {
			granted = append(granted, "CAP_"+name)
		}
	}
	args := image.Args
	if len(c.Command) > 0 {
		args = c.Command
	}
	cwd := image.Cwd
	if c.WorkingDir != "" {
		cwd = c.WorkingDir
	}
	resources := M{"devices": []M{{"allow": false, "access": "rwm"}}}
	request, limit := c.Resources.Requests["cpu"], c.Resources.Limits["cpu"]
	if request == "" {
		request = limit
	}
	cpu := M{"shares": max(2, int64(quantity(request)*1024))}
	if limit != "" {
		cpu["quota"], cpu["period"] = int64(quantity(limit)*100000), 100000
	}
	resources["cpu"] = cpu
	if memory := c.Resources.Limits["memory"]; memory != "" {
		resources["memory"] = M{"limit": int64(quantity(memory))}
	}
	spec := M{
		"ociVersion": "1.0.0",
		"process": M{"terminal": false, "user": user, "args": append(append([]string{}, args...), c.Args...), "cwd": cwd,
			"env":          append(append([]string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/ko-app"}, image.Env...), environment...),
			"capabilities": M{"bounding": granted, "effective": granted, "permitted": granted}},
		"root":     M{"path": "rootfs", "readonly": c.SecurityContext.ReadOnlyRootFilesystem},
		"hostname": p.meta.Name,
		"mounts":   mounts,
		"linux": M{"resources": resources, "cgroupsPath": "/nodes/" + p.meta.UID + "/" + c.Name,
			"namespaces": []M{{"type": "pid"}, {"type": "ipc"}, {"type": "uts"}, {"type": "mount"},
				{"type": "network", "path": "/var/run/netns/" + p.namespace()}},
			"maskedPaths":   []string{"/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/timer_list", "/sys/firmware"},
			"readonlyPaths": []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}},
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(bundle, "config.json"), text, 0o644)
}

// execute runs a created container until it ends, and returns its exit code.
func (p *pod) execute(c *container, started string) int {
	bundle := filepath.Join(p.folder, c.Name)
	defer syscall.Unmount(filepath.Join(bundle, "rootfs"), syscall.MNT_DETACH)
	output, err := os.OpenFile(filepath.Join(p.folder, c.Name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return 128
	}
	defer output.Close()
	p.mutex.Lock()
	id := p.id(c)
	p.mutex.Unlock()
	process := exec.Command("crun", "run", "--bundle", bundle, id)
	process.Stdout, process.Stderr = output, output
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if closed(p.stopping) {
		return 0
	}
	if err := process.Start(); err != nil {
		return 128
	}
	exited := make(chan struct{})
	unhealthy := make(chan struct{}, 1)
	p.change(c, func(s *containerState) { s.state = M{"running": M{"startedAt": started}} })
	context, cancel := context.WithCancel(context.Background())
	go p.probe(context, c, id, unhealthy)
	var signals sync.WaitGroup
	signals.Add(1)
	go func() {
		defer signals.Done()
		kill := p.killed
		select {
		case <-exited:
			return
		case <-unhealthy:
			forced := make(chan struct{})
			time.AfterFunc(30*time.Second, func() { close(forced) })
			kill = forced
		case <-p.stopping:
		}
		if hook := c.Lifecycle.PreStop; hook != nil {
			finished := make(chan struct{})
			go func() {
				_ = p.check(c, hook, id, 10*time.Minute)
				close(finished)
			}()
			select {
			case <-finished:
			case <-kill:
			case <-exited:
			}
		}
		// The container may not exist yet.
		for signal := "TERM"; ; {
			err := exec.Command("crun", "kill", id, signal).Run()
			select {
			case <-exited:
				return
			case <-kill:
				signal = "KILL"
				time.Sleep(50 * time.Millisecond)
				continue
			default:
			}
			if err != nil {
				time.Sleep(50 * time.Millisecond)
				continue
			}
			select {
			case <-exited:
				return
			case <-kill:
				signal = "KILL"
			}
		}
	}()
	_ = process.Wait()
	close(exited)
	cancel()
	signals.Wait()
	return process.ProcessState.ExitCode()
}

// probe probes a container until the context ends.
func (p *pod) probe(ctx context.Context, c *container, id string, unhealthy chan<- struct{}) {
	loop := func(probe *probe, result func(healthy bool) bool) {
		pause := func(seconds int) bool {
			select {
			case <-ctx.Done():
				return false
			case <-time.After(time.Duration(seconds) * time.Second):
				return true
			}
		}
		if !pause(probe.InitialDelaySeconds) {
			return
		}
		successes, failures := 0, 0
		for {
			err := p.check(c, &probe.handler, id, time.Duration(max(1, probe.TimeoutSeconds))*time.Second)
			if ctx.Err() != nil {
				return
			}
			if err == nil {
				successes, failures = successes+1, 0
			} else {
				successes, failures = 0, failures+1
			}
			if successes >= max(1, probe.SuccessThreshold) && !result(true) {
				return
			}
			if failures >= max(1, probe.FailureThreshold) && !result(false) {
				return
			}
			if !pause(max(1, probe.PeriodSeconds)) {
				return
			}
		}
	}
	fail := func() {
		select {
		case unhealthy <- struct{}{}:
		default:
		}
	}
	started := c.StartupProbe == nil
	if !started {
		loop(c.StartupProbe, func(healthy bool) bool {
			started = healthy
			if !healthy {
				fail()
			}
			return false
		})
	}
	if !started || ctx.Err() != nil {
		return
	}
	p.change(c, func(s *containerState) { s.started, s.ready = true, c.ReadinessProbe == nil })
	if c.LivenessProbe != nil {
		go loop(c.LivenessProbe, func(healthy bool) bool {
			if !healthy {
				fail()
			}
			return healthy
		})
	}
	if c.ReadinessProbe != nil {
		ready := false
		loop(c.ReadinessProbe, func(healthy bool) bool {
			if healthy != ready && ctx.Err() == nil {
				ready = healthy
				p.change(c, func(s *containerState) { s.ready = healthy })
			}
			return true
		})
	}
}

var probes = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

var grpcProbes = func() *http.Client {
	protocols := &http.Protocols{}
	protocols.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: &http.Transport{Protocols: protocols, DisableKeepAlives: true}}
}()

// check does what a probe or a hook says, once.
func (p *pod) check(c *container, h *handler, id string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	number := func(port any) string {
		for _, named := range c.Ports {
			if named.Name == port {
				return strconv.Itoa(named.ContainerPort)
			}
		}
		return fmt.Sprint(port)
	}
	switch {
	case h.Exec != nil:
		return exec.CommandContext(ctx, "crun", append([]string{"exec", id}, h.Exec.Command...)...).Run()
	case h.TCPSocket != nil:
		connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", p.address+":"+number(h.TCPSocket.Port))
		if err == nil {
			connection.Close()
		}
		return err
	case h.GRPC != nil:
		// HealthCheckRequest of one field, in a frame; HealthCheckResponse is 08 01 if it serves.
		message := append([]byte{10, byte(len(h.GRPC.Service))}, h.GRPC.Service...)
		if h.GRPC.Service == "" {
			message = nil
		}
		body := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
		request, err := http.NewRequestWithContext(ctx, "POST",
			fmt.Sprintf("http://%s:%d/grpc.health.v1.Health/Check", p.address, h.GRPC.Port), bytes.NewReader(body))
		if err != nil {
			return err
		}
		request.Header.Set("Content-Type", "application/grpc")
		request.Header.Set("TE", "trailers")
		response, err := grpcProbes.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		answer, _ := io.ReadAll(response.Body)
		if !bytes.HasSuffix(answer, []byte{8, 1}) {
			return errors.New("not serving")
		}
		return nil
	case h.HTTPGet != nil:
		get := h.HTTPGet
		scheme, host := strings.ToLower(get.Scheme), get.Host
		if scheme == "" {
			scheme = "http"
		}
		if host == "" {
			host = p.address
		}
		request, err := http.NewRequestWithContext(ctx, "GET", scheme+"://"+host+":"+number(get.Port)+"/"+strings.TrimPrefix(get.Path, "/"), nil)
		if err != nil {
			return err
		}
		request.Header.Set("User-Agent", "kube-probe/1.36")
		request.Header.Set("Accept", "*/*")
		for _, header := range get.HTTPHeaders {
			if strings.EqualFold(header.Name, "Host") {
				request.Host = header.Value
			}
			request.Header.Set(header.Name, header.Value)
		}
		response, err := probes.Do(request)
		if err != nil {
			return err
		}
		response.Body.Close()
		if response.StatusCode < 200 || response.StatusCode >= 400 {
			return errors.New(response.Status)
		}
		return nil
	}
	return nil
}
