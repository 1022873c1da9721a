package io.gameq.redis;

import io.lettuce.core.resource.Transports;
import io.netty.resolver.HostsFileEntriesProvider;
import io.netty.resolver.HostsFileEntriesResolver;
import io.netty.resolver.ResolvedAddressTypes;
import io.netty.resolver.dns.DnsAddressResolverGroup;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import io.netty.resolver.dns.DnsServerAddressStreamProvider;
import io.netty.resolver.dns.DnsServerAddressStreamProviders;
import io.netty.resolver.dns.NoopDnsCache;
import io.netty.resolver.dns.NoopDnsCnameCache;
import java.net.InetAddress;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The addresses of hosts, asked for at each connection: a name that leads to another server after a
 * failover is followed at once, whatever its time to live. Stateless.
 */
final class HostNames {
  private HostNames() {}

  /** By the system's DNS servers, and its hosts file. */
  static DnsAddressResolverGroup resolver() {
    return resolver(DnsServerAddressStreamProviders.platformDefault());
  }

  static DnsAddressResolverGroup resolver(DnsServerAddressStreamProvider servers) {
    return new DnsAddressResolverGroup(
        new DnsNameResolverBuilder()
            .datagramChannelType(Transports.datagramChannelClass())
            .nameServerProvider(servers)
            .resolveCache(NoopDnsCache.INSTANCE)
            .cnameCache(NoopDnsCnameCache.INSTANCE)
            .hostsFileEntriesResolver(new HostsFile()));
  }

  /** Read for each name: the client reads it once. */
  private static final class HostsFile implements HostsFileEntriesResolver {
    @Override
    public @Nullable InetAddress address(String host, ResolvedAddressTypes types) {
      HostsFileEntriesProvider file = HostsFileEntriesProvider.parser().parseSilently();
      String name = host.toLowerCase(Locale.ROOT);
      return Stream.of(file.ipv4Entries(), file.ipv6Entries())
          .map(entries -> first(entries, name))
          .flatMap(Stream::ofNullable)
          .findFirst()
          .orElse(null);
    }

    private static @Nullable InetAddress first(
        Map<String, List<InetAddress>> entries, String name) {
      List<InetAddress> of = entries.getOrDefault(name, List.of());
      return of.isEmpty() ? null : of.get(0);
    }
  }
}
