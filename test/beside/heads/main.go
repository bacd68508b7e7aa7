// heads sends generated heads of requests and responses through this activator and through Go's httputil.ReverseProxy, and
// says where they differ: heads ADDRESS POD-PORT [COUNT [SEED]]. The pod is the program's own; the activator's revision has
// it as its only pod, and is named by the fields of every request.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log"
	"math/rand"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

const revision = "Knative-Serving-Namespace: shop\r\nKnative-Serving-Revision: raw\r\n"

// A change of a head that is valid, or that somebody might send. Fields come after those of before.
type change struct{ name, fields, body string }

var (
	random  *rand.Rand
	targets = []string{"/", "/a?b=c", "/a//b", "/a/../b", "/%2f%41", "/a;b", "/?", "/a?b%zz", "/a\"b", "/\xe4", "/a|b^c", "/a%zz", "http://h.example/a", "http://h.example",
		"HTTP://h.example/a", "//h/a", "/a#b", "*", "h:80", "/a:b", "/[a]", "/{a}", "/a\\b"}
	methods  = []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "get", "M-SEARCH", "TRACE"}
	requests = []change{
		{"length", "Content-Length: 5\r\n", "hello"}, {"length 0", "Content-Length: 0\r\n", ""}, {"chunked", "Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n"},
		{"trailer", "Trailer: X-T\r\nTransfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\nX-T: t\r\n\r\n"},
		{"length twice", "Content-Length: 5\r\nContent-Length: 5\r\n", "hello"}, {"length list", "Content-Length: 5, 5\r\n", "hello"}, {"length plus", "Content-Length: +5\r\n", "hello"},
		{"length and chunked", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n"}, {"gzip, chunked", "Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"},
		{"identity", "Transfer-Encoding: identity\r\n", ""}, {"chunked twice", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"},
		{"chunk extension", "Transfer-Encoding: chunked\r\n", "5;a=\"b\"\r\nhello\r\n0\r\n\r\n"}, {"chunk LF", "Transfer-Encoding: chunked\r\n", "5\nhello\n0\n\n"},
		{"connection names", "Connection: x-a, close\r\nX-A: 1\r\n", ""}, {"connection empty elements", "Connection: , x-a,,\r\nX-A: 1\r\n", ""}, {"connection quoted", "Connection: \"x-a\"\r\nX-A: 1\r\n", ""},
		{"connection names host", "Connection: host\r\n", ""}, {"connection names length", "Connection: content-length\r\nContent-Length: 5\r\n", "hello"}, {"connection names forwarded", "Connection: X-Forwarded-For\r\nX-Forwarded-For: 9.9.9.9\r\n", ""},
		{"te trailers", "TE: trailers\r\n", ""}, {"te gzip", "TE: gzip\r\n", ""}, {"te weighted", "TE: trailers;q=0.5\r\n", ""}, {"te twice", "TE: gzip\r\nTE: Trailers\r\n", ""},
		{"upgrade", "Connection: upgrade\r\nUpgrade: foo\r\n", ""}, {"upgrade alone", "Upgrade: foo\r\n", ""}, {"upgrade two", "Connection: upgrade\r\nUpgrade: foo, bar\r\n", ""}, {"upgrade twice", "Connection: upgrade\r\nUpgrade: foo\r\nUpgrade: bar\r\n", ""}, {"upgrade empty", "Connection: upgrade\r\nUpgrade:\r\n", ""},
		{"keep-alive", "Keep-Alive: timeout=5\r\nProxy-Connection: x\r\nProxy-Authorization: y\r\nProxy-Authenticate: z\r\n", ""},
		{"forwarded for", "X-Forwarded-For: 9.9.9.9\r\n", ""}, {"forwarded for twice", "X-Forwarded-For: 9.9.9.9\r\nX-Forwarded-For: 8.8.8.8\r\n", ""}, {"forwarded for empty", "X-Forwarded-For:\r\n", ""}, {"forwarded", "Forwarded: for=9.9.9.9\r\nX-Forwarded-Host: a\r\nX-Forwarded-Proto: https\r\n", ""},
		{"repeated", "X-A: 1\r\nx-a: 2\r\nX-B: 3\r\nX-A: 4\r\n", ""}, {"empty", "X-A:\r\nX-B: \t \r\n", ""}, {"odd names", "X_A: 1\r\n!#$%&'*+-.^_`|~: 2\r\n1: 3\r\n", ""}, {"bytes", "X-A: \xe4\xff\r\n", ""}, {"tabs", "X-A:\ta\tb\t\r\n", ""}, {"control", "X-A: a\x01b\r\n", ""}, {"folded", "X-A: a\r\n b\r\n", ""}, {"space before colon", "X-A : 1\r\n", ""}, {"space in name", "X A: 1\r\n", ""}, {"no colon", "X-A\r\n", ""}, {"no name", ": a\r\n", ""}, {"LF", "X-A: 1\nX-B: 2\r\n", ""}, {"CR", "X-A: 1\rX-B: 2\r\n", ""}, {"NUL", "X-A: a\x00b\r\n", ""},
		{"cookies", "Cookie: a=1\r\nCookie: b=2\r\n", ""}, {"user agent empty", "User-Agent:\r\n", ""}, {"user agent", "User-Agent: a\r\n", ""}, {"accept encoding", "Accept-Encoding: gzip\r\n", ""}, {"range", "Range: bytes=0-1\r\n", ""}, {"expect", "Expect: 100-continue\r\nContent-Length: 5\r\n", "hello"}, {"expect other", "Expect: x\r\n", ""}, {"date", "Date: x\r\nVia: 1.1 a\r\nMax-Forwards: 0\r\n", ""}, {"host twice", "Host: h\r\n", ""}, {"pragma", "Pragma: no-cache\r\n", ""}, {"http2 settings", "Connection: HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n", ""},
	}
	responses = []change{
		{"length", "Content-Length: 5\r\n", "hello"}, {"length 0", "Content-Length: 0\r\n", ""}, {"chunked", "Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n"}, {"trailer", "Trailer: X-T\r\nTransfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\nX-T: t\r\n\r\n"},
		{"trailer unannounced", "Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\nX-T: t\r\n\r\n"}, {"to the end", "", "hello"}, {"length twice", "Content-Length: 5\r\nContent-Length: 5\r\n", "hello"}, {"length list", "Content-Length: 5, 5\r\n", "hello"}, {"length and chunked", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n"}, {"length short", "Content-Length: 9\r\n", "hello"}, {"length long", "Content-Length: 3\r\n", "hello"}, {"gzip, chunked", "Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"}, {"identity", "Transfer-Encoding: identity\r\n", "hello"}, {"chunk LF", "Transfer-Encoding: chunked\r\n", "5\nhello\n0\n\n"}, {"chunk extension", "Transfer-Encoding: chunked\r\n", "5;a=b\r\nhello\r\n0\r\n\r\n"},
		{"connection names", "Connection: x-a\r\nX-A: 1\r\n", ""}, {"close", "Connection: close\r\n", ""}, {"close, names", "Connection: close, x-a\r\nX-A: 1\r\n", ""}, {"keep-alive", "Connection: keep-alive\r\nKeep-Alive: timeout=5\r\n", ""}, {"connection names length", "Connection: content-length\r\nContent-Length: 0\r\n", ""}, {"upgrade", "Connection: upgrade\r\nUpgrade: foo\r\n", ""}, {"proxy fields", "Proxy-Authenticate: a\r\nProxy-Authorization: b\r\nProxy-Connection: c\r\nTE: d\r\n", ""},
		{"repeated", "X-A: 1\r\nx-a: 2\r\nX-B: 3\r\n", ""}, {"empty", "X-A:\r\nX-B: \t \r\n", ""}, {"odd names", "X_A: 1\r\n!#$%&'*+-.^_`|~: 2\r\n1: 3\r\n", ""}, {"bytes", "X-A: \xe4\xff\r\n", ""}, {"control", "X-A: a\x01b\r\n", ""}, {"folded", "X-A: a\r\n b\r\n", ""}, {"space before colon", "X-A : 1\r\n", ""}, {"space in name", "X A: 1\r\n", ""}, {"no colon", "X-A\r\n", ""}, {"no name", ": a\r\n", ""}, {"LF", "X-A: 1\nX-B: 2\r\n", ""}, {"cookies", "Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n", ""}, {"date", "Date: x\r\nServer: s\r\n", ""}, {"type", "Content-Type: text/x\r\n", ""}, {"type empty", "Content-Type:\r\n", ""}, {"location", "Location: //a b\r\n", ""},
	}
	starts = []string{"HTTP/1.1 200 OK", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK", "HTTP/1.0 200 OK", "HTTP/1.1 200 ", "HTTP/1.1 200", "HTTP/1.1 204 No Content", "HTTP/1.1 205 Reset Content", "HTTP/1.1 304 Not Modified", "HTTP/1.1 404 Own words", "HTTP/1.1 599 x", "HTTP/1.1 999 x", "HTTP/1.1 099 x", "HTTP/1.1 20 x", "HTTP/1.1 2000 x", "HTTP/1.2 200 OK", "HTTP/2.0 200 OK", "http/1.1 200 OK", "HTTP/1.1  200 OK", "HTTP/1.1 103 Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK"}
)

// rule explains what one line of a difference is. The first that matches decides.
type rule struct {
	pattern  *regexp.Regexp
	sentence string
}

func explain(pattern, sentence string) rule { return rule{regexp.MustCompile(pattern), sentence} }

var rules = []rule{
	explain(`^only ours refuses: .*\b(LF|CR|NUL|control|folded|space in name|no colon|no name|space before colon)\b`, "lines that end in LF alone, folded ones, and names and values that RFC 9112 does not allow|ours on purpose ([protocols](protocols.md))"),
	explain(`^only ours refuses: .*((length twice|length list|length and chunked|length plus|identity|gzip, chunked|chunked twice)|length.*(length|trailer|chunk)|chunk.*length|(chunk|trailer).* HTTP/1\.0$)`, "ambiguous or unknown framing|ours on purpose ([protocols](protocols.md))"),
	explain(`^only ours refuses: .*chunk LF`, "lines of chunks that end in LF alone|ours on purpose ([protocols](protocols.md))"),
	explain(`^only ours refuses: .*(HTTP/1\.2|HTTP/2\.0|HTTP/2 )`, "other versions than HTTP/1.0 and HTTP/1.1|ours on purpose ([protocols](protocols.md))"),
	explain(`^only ours refuses: .*HTTP/1.1 (099|20|2000) x`, "a status that has not three digits, or begins with zero|ours on purpose ([protocols](protocols.md#responses-of-pods))"),
	explain(`^only ours refuses: .*expect other`, "expectations other than 100-continue: 417|ours on purpose (RFC 9110, section 10.1.1)"),
	explain(`^only ours refuses: .*TRACE`, "`TRACE` with a body|ours on purpose ([protocols](protocols.md))"),
	explain(`^only ours refuses: .*\*`, "a target of `*` for another method than `OPTIONS`|ours on purpose (RFC 9112, section 3.2.4)"),
	explain(`^only ours refuses: .*(HTTP://h|host twice|h:80)`, "targets and hosts that are none|ours on purpose ([protocols](protocols.md))"),
	explain(`^only Go's refuses: .*http/1\.1`, "a response that begins with http/1.1 in lower case|theirs"),
	explain(`^only Go's refuses: .*(/a%zz|/\[a\])`, "targets whose escapes Go does not read|theirs"),
	explain(`^only Go's refuses: .*(OPTIONS|expect other.*HTTP/1.0)`, "`OPTIONS *`, and other expectations than 100-continue in HTTP/1.0|theirs"),
	explain(`HTTP/1\.[01] (200 |200|200 OK|404 .*|599 .*|999 .*|103 .*)$`, "reason phrases are passed on; Go writes its own|theirs"),
	explain(`^caller ours: Connection: close`, "a caller in HTTP/1.0 gets `Connection: close`|ours on purpose (RFC 9112, section 9.3)"),
	explain(`^pod (ours|Go's): (\S+ \S*(/|\*)\S* HTTP/1.1|User-Agent: |Content-Length: 0|Cache-Control: no-cache)$`, "Go escapes bytes of paths, drops an empty `User-Agent` and the length 0 of a GET, adds one to others without a body, and `Cache-Control` to `Pragma`|theirs"),
	explain(`^pod (ours|Go's): (Upgrade|Connection): `, "all offers of `Upgrade` are passed on, unless in HTTP/1.0; Go passes on the first field|ours on purpose (RFC 9110, section 7.8)"),
	explain(`^pod ours: (body|Content-Length)`, "`OPTIONS *` goes to the revision; Go answers it|ours on purpose ([compatibility](compatibility.md#requests))"),
	explain(`^pod (ours|Go's): trailers|^pod Go's: Trailer`, "values of a request's trailers arrive; Go drops them|theirs"),
	explain(`^caller Go's: (X-A|X-B): |^caller ours: X-A: 1$`, "fields that `Connection: close, x-a` names, and names with a blank before the colon: Go keeps those fields, and drops these|theirs"),
	explain(`^caller (ours|Go's): (Content-Length|Content-Type|length|body|Trailer|trailers)\b`, "responses to HEAD, 204, 205 and 304: their fields are passed on, and a 205 has no body; Go drops some, and passes on that body|ours on purpose (RFC 9110, section 15.3.6)"),
	explain(`^caller (ours|Go's): (none|broken off)|^caller ours: (HTTP/1.1 20|X|Date|Server|Set-Cookie|Location|!|1)`, "a response that is broken off: Go sends nothing of it|theirs"),
	explain(`order$`, "the order of fields; Go sorts them|theirs"),
}

// The pod plays what is set, and keeps what it got.
type pod struct {
	sync.Mutex
	plays    string
	received []string
}

func (p *pod) serve(connection net.Conn) {
	defer connection.Close()
	reader := bufio.NewReader(connection)
	for {
		var got bytes.Buffer
		request, err := http.ReadRequest(bufio.NewReader(io.TeeReader(oneByOne{reader}, &got)))
		if err != nil {
			if got.Len() > 0 {
				p.keep("unreadable " + strconv.Quote(got.String()) + " " + err.Error())
			}
			return
		}
		if request.Header.Get("K-Network-Probe") != "" {
			io.WriteString(connection, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nqueue")
			continue
		}
		connection.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
		if request.Header.Get("Expect") != "" {
			io.WriteString(connection, "HTTP/1.1 100 Continue\r\n\r\n")
		}
		body, err := io.ReadAll(request.Body)
		connection.SetReadDeadline(time.Time{})
		head, _, _ := strings.Cut(got.String(), "\r\n\r\n")
		text := normal(head, isOurs) + fmt.Sprintf("\nbody %q", body)
		if len(request.Trailer) > 0 {
			text += fmt.Sprintf("\ntrailers %v", request.Trailer)
		}
		if err != nil {
			text += "\nbroken off"
		}
		p.keep(text)
		p.Lock()
		plays := p.plays
		p.Unlock()
		io.WriteString(connection, plays)
		return
	}
}

// oneByOne keeps a reader of heads from reading what follows them.
type oneByOne struct{ reader *bufio.Reader }

func (o oneByOne) Read(into []byte) (int, error) { return o.reader.Read(into[:1]) }

func (p *pod) keep(text string) {
	p.Lock()
	defer p.Unlock()
	p.received = append(p.received, text)
}

func (p *pod) take() string {
	p.Lock()
	defer p.Unlock()
	text := ""
	if len(p.received) > 0 { // one before it may be late, if it was broken off
		text = p.received[len(p.received)-1]
	}
	p.received = nil
	return text
}

var isOurs = regexp.MustCompile(`(?i)^(host|k-original-host|k-proxy-request|knative-serving-\w+|x-forwarded-for: 127\.0\.0\.1$|accept-encoding: gzip$|connection: close$)`)
var isGos = regexp.MustCompile(`(?i)^(date: \w+, |content-type: text/plain; charset=utf-8)`)

// normal has the start line, and the other lines in order of their names, without those that match.
func normal(head string, left *regexp.Regexp) string {
	lines := strings.Split(head, "\r\n")
	var fields []string
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ":")
		line = http.CanonicalHeaderKey(name) + ": " + strings.TrimSpace(value)
		if !left.MatchString(line) {
			fields = append(fields, line)
		}
	}
	sort.SliceStable(fields, func(i, j int) bool { return before(fields[i], ":") < before(fields[j], ":") })
	return lines[0] + "\n" + strings.Join(fields, "\n")
}

func before(text, end string) string {
	first, _, _ := strings.Cut(text, end)
	return first
}

// exchange says what the caller and the pod got.
func exchange(p *pod, address, request, method string) (string, string) {
	p.take()
	connection, err := net.Dial("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()
	connection.SetDeadline(time.Now().Add(700 * time.Millisecond))
	io.WriteString(connection, request)
	var raw bytes.Buffer
	reader := bufio.NewReader(io.TeeReader(connection, &raw))
	answer := ""
	for {
		raw.Reset()
		response, err := http.ReadResponse(reader, &http.Request{Method: method})
		if err != nil {
			answer += "none: " + before(err.Error(), " tcp")
			break
		}
		head := fmt.Sprintf("%s %s", response.Proto, response.Status)
		if response.StatusCode >= 100 && response.StatusCode < 200 && response.StatusCode != 101 {
			if response.StatusCode != 100 {
				answer += head + "\n"
			}
			continue
		}
		if own := response.Header.Get("K-Activator-Reason"); own != "" || response.StatusCode == 502 || response.StatusCode == 400 {
			answer += strconv.Itoa(response.StatusCode) // of a proxy itself; the texts differ
			break
		}
		body, err := io.ReadAll(response.Body)
		var fields []string
		for name, values := range response.Header {
			for _, value := range values {
				if line := name + ": " + value; !isGos.MatchString(line) {
					fields = append(fields, line)
				}
			}
		}
		sort.Strings(fields)
		answer += fmt.Sprintf("%s\n%s\nlength %d %v\nbody %q", head, strings.Join(fields, "\n"), response.ContentLength, response.TransferEncoding, body)
		if len(response.Trailer) > 0 {
			answer += fmt.Sprintf("\ntrailers %v", response.Trailer)
		}
		if err != nil {
			answer += "\nbroken off"
		}
		break
	}
	return answer, p.take()
}

func pick[T any](from []T) T { return from[random.Intn(len(from))] }

// differing lists the lines that only one has.
func differing(side, ours, gos string) []string {
	var found []string
	for _, one := range []struct{ who, of, other string }{{"ours", ours, gos}, {"Go's", gos, ours}} {
		other := "\n" + one.other + "\n"
		for _, line := range strings.Split(one.of, "\n") {
			if line != "" && !strings.Contains(other, "\n"+line+"\n") {
				found = append(found, side+" "+one.who+": "+line)
			}
		}
	}
	if found == nil && ours != gos {
		found = append(found, side+": order")
	}
	return found
}

func refused(answer string) bool {
	return regexp.MustCompile(`(?m)^(HTTP/1.. )?(4|5)(0|1)\d\b[^/]*$`).MatchString(answer)
}

func main() {
	count, seed := 10000, int64(1)
	if len(os.Args) > 3 {
		count, _ = strconv.Atoi(os.Args[3])
	}
	if len(os.Args) > 4 {
		seed, _ = strconv.ParseInt(os.Args[4], 10, 64)
	}
	random = rand.New(rand.NewSource(seed))
	p := &pod{}
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serve(connection)
		}
	}()
	target, _ := url.Parse("http://127.0.0.1:" + os.Args[2])
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	proxy.ErrorLog = log.New(io.Discard, "", 0)
	proxy.FlushInterval = -1
	gos, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go (&http.Server{Handler: proxy, ErrorLog: proxy.ErrorLog}).Serve(gos)
	for try := 0; ; try++ { // until the pod has answered a probe
		answer, _ := exchange(p, os.Args[1], "GET / HTTP/1.1\r\nHost: h\r\n"+revision+"\r\n", "GET")
		if !strings.HasPrefix(answer, "none: read") {
			break
		}
		if try > 50 {
			log.Fatal(answer)
		}
	}
	kinds, examples, same := map[string]int{}, map[string]string{}, 0
	for i := 0; i < count; i++ {
		method, target, version := "GET", "/", "HTTP/1.1"
		var applied []string
		request := ""
		p.Lock()
		p.plays = "HTTP/1.1 200 OK\r\nContent-Type: text/x\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
		p.Unlock()
		if i%2 == 0 {
			if random.Intn(2) == 0 {
				method = pick(methods)
			}
			if random.Intn(3) == 0 {
				target = pick(targets)
			}
			if random.Intn(6) == 0 {
				version = pick([]string{"HTTP/1.0", "HTTP/1.1", "HTTP/1.2", "HTTP/2.0"})
			}
			fields, body := "", ""
			for n := random.Intn(3); n > 0; n-- {
				one := pick(requests)
				if body != "" && one.body != "" {
					continue
				}
				fields, body = fields+one.fields, body+one.body
				applied = append(applied, one.name)
			}
			request = method + " " + target + " " + version + "\r\nHost: h.example\r\n" + revision + fields + "\r\n" + body
			applied = append(applied, method, target, version)
		} else {
			start, fields, body := pick(starts), "", ""
			for n := 1 + random.Intn(2); n > 0; n-- {
				one := pick(responses)
				if body != "" && (one.body != "" || strings.Contains(one.fields, "Content-Length")) {
					continue
				}
				fields, body = fields+one.fields, body+one.body
				applied = append(applied, one.name)
			}
			if random.Intn(8) == 0 {
				method = "HEAD"
				body = ""
			}
			if random.Intn(8) == 0 {
				version = "HTTP/1.0"
			}
			applied = append(applied, start, method, version)
			p.Lock()
			p.plays = start + "\r\n" + fields + "\r\n" + body
			p.Unlock()
			request = method + " / " + version + "\r\nHost: h.example\r\n" + revision + "\r\n"
		}
		ourAnswer, ourPod := exchange(p, os.Args[1], request, method)
		goAnswer, goPod := exchange(p, gos.Addr().String(), request, method)
		how := strings.Join(applied, ", ")
		var found []string
		switch {
		case refused(ourAnswer) != refused(goAnswer):
			who := map[bool]string{true: "only ours refuses", false: "only Go's refuses"}[refused(ourAnswer)]
			found = []string{who + ": " + how}
		case refused(ourAnswer):
		default:
			found = append(differing("caller", ourAnswer, goAnswer), differing("pod", ourPod, goPod)...)
		}
		if found == nil {
			same++
		}
		for _, one := range found {
			kind := "unexplained: " + one
			for _, rule := range rules {
				if rule.pattern.MatchString(one) {
					kind = rule.sentence
					break
				}
			}
			kinds[kind]++
			if old, ok := examples[kind]; !ok || len(old) > len(how)+len(one) {
				examples[kind] = how + ": " + one
			}
		}
	}
	fmt.Printf("%d heads (seed %d), %d of them the same.\n\n| difference | times | verdict |\n|---|---|---|\n", count, seed, same)
	var names []string
	for name := range kinds {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool {
		return kinds[names[i]] > kinds[names[j]] || kinds[names[i]] == kinds[names[j]] && names[i] < names[j]
	})
	unexplained := 0
	for _, name := range names {
		if strings.HasPrefix(name, "unexplained") {
			unexplained++
			fmt.Fprintf(os.Stderr, "%5d  %.400s  <- %.200q\n", kinds[name], name, examples[name])
		} else {
			sentence, verdict, _ := strings.Cut(name, "|")
			fmt.Printf("| %s | %d | %s |\n", sentence, kinds[name], verdict)
		}
	}
	if unexplained > 0 {
		os.Exit(1)
	}
}
